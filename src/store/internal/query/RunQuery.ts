import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Steps from "../../../domain/concurrency/Steps.js"
import { collect, forEachChunk, fromArray, rechunk } from "../../../domain/concurrency/Streams.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { isAlways } from "../../../domain/query/Predicate.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import { settingsFileName } from "../../../domain/settings/Settings.js"
import { under } from "../../DocumentPath.js"
import type { PrefetchRequest } from "../../remote/GitRemote.js"
import { indexDirectory } from "../derived/Derived.js"
import type { BrokenTree } from "../ordered-tree/BrokenTree.js"
import { headerName, rowsName } from "../ordered-tree/Header.js"
import type { RecordedSettings } from "../snapshot/RepositorySettings.js"
import { valuesExecution } from "./IndexFileQuery.js"
import type { OpenTree } from "./IndexTreeRows.js"
import { type QueryExecution, scanExecution } from "./QueryExecution.js"
import { type ManifestPlan, planQuery, type QueryPlan, type ScanPlan, type TreePlan } from "./QueryPlan.js"
import {
  documentFilesById,
  IndexMismatch,
  type Match,
  matchesAmong,
  positionOf,
  type QueryTarget,
  readGroupSize
} from "./QueryTarget.js"
import { FirstRows, type Keyed } from "./SortedStreams.js"

/** Loaded if a repository has trees. */
export const trees = lazyModule(() => import("./IndexTreeQuery.js"))
const rows = lazyModule(() => import("./IndexTreeRows.js"))

/** Opens the tree of the index or the manifest of a plan, or returns why it cannot be used. */
export const openPlanTree = (target: QueryTarget, plan: TreePlan | ManifestPlan) =>
  Effect.gen(function* () {
    const { core, snapshot } = target
    const { openTree } = yield* rows
    return yield* openTree(target, yield* core.repository.at(snapshot), plan)
  })

const manifestExecution = (
  target: QueryTarget,
  plan: ManifestPlan
): Effect.Effect<QueryExecution, ReadError> =>
  Effect.gen(function* () {
    const opened = yield* openPlanTree(target, plan)
    if (Either.isLeft(opened)) return scanExecution(target, opened.left)
    const open = opened.right
    const { manifestMatches } = yield* trees
    const { count } = open.tree.header
    return {
      plan,
      ...currency("the manifest", open),
      isOrdered: target.query.order.fields.length === 0,
      matches: brokenAsMismatch(manifestMatches(target, open)),
      estimate: Effect.succeed({ entries: count, documents: open.differing.size }),
      count: isAlways(target.query.predicate) && open.differing.size === 0 ? Effect.succeed(count) : undefined
    }
  })

const currency = (what: string, { differing: { size }, path }: OpenTree) => ({
  reason:
    size === 0 ? `${what} is current` : `${size} documents changed without ${what}, and are read as well`,
  isCurrent: size === 0,
  path
})

const brokenAsMismatch = <A>(
  matches: Stream.Stream<A, ReadError | BrokenTree | IndexMismatch>
): Stream.Stream<A, ReadError | IndexMismatch> =>
  Stream.mapError(matches, (error) => (error._tag === "BrokenTree" ? new IndexMismatch() : error))

const treeExecution = (target: QueryTarget, plan: TreePlan): Effect.Effect<QueryExecution, ReadError> =>
  Effect.gen(function* () {
    const opened = yield* openPlanTree(target, plan)
    if (Either.isLeft(opened)) return scanExecution(target, opened.left)
    const open = opened.right
    const { treeMatches } = yield* trees
    const { estimateRows, coversQuery, matchingRows } = yield* rows
    const ids = idsOf(brokenAsMismatch(matchingRows(target, plan, open)))
    return {
      plan,
      ...currency(`the index ${plan.index.name}`, open),
      isOrdered: plan.isOrdered,
      matches: brokenAsMismatch(treeMatches(target, plan, open)),
      estimate: estimateRows(plan, open).pipe(
        Effect.catchTag("BrokenTree", () => Effect.succeed(open.tree.header.count)),
        Effect.map((entries) => ({ entries, documents: entries + open.corrections.length }))
      ),
      count: coversQuery(plan, target)
        ? Effect.map(ids, ({ size }) => size + open.corrections.length)
        : undefined
    }
  })

/** The ids of rows, each once. */
const idsOf = <E>(rows: Stream.Stream<{ readonly id: string }, E>): Effect.Effect<ReadonlySet<string>, E> =>
  Effect.suspend(() => {
    const ids = new Set<string>()
    return Effect.as(
      forEachChunk(rows, (found) =>
        Effect.sync(() => {
          for (const { id } of found) ids.add(id)
        })
      ),
      ids
    )
  })

const planIn = ({ collection, query }: QueryTarget, { recorded, settings }: RecordedSettings): QueryPlan =>
  planQuery(query, {
    format: settings.format,
    recorded,
    indexes: settings.indexes.get(collection) ?? [],
    projected: settings.manifests.get(collection)
  })

/** The paths that using an index or a manifest always reads. */
const prefetchPaths = (
  { collection, core: { derived, options } }: QueryTarget,
  plan: Exclude<QueryPlan, ScanPlan>
): PrefetchRequest => {
  const { root } = options
  const settings = under(root, settingsFileName)
  if (plan._tag === "Values") {
    const path = derived.indexPath(collection, plan.name)
    return { files: [settings, path], directories: [root, under(root, indexDirectory, collection)] }
  }
  const tree =
    plan._tag === "Tree"
      ? derived.indexTreePath(collection, plan.index.name)
      : derived.manifestTreePath(collection)
  return { files: [settings, `${tree}/${headerName}`], directories: [root, tree, `${tree}/${rowsName}`] }
}

/** Chooses a plan by the settings of a commit, which is pinned unless the plan does not need one. */
export const choosePlan = (
  target: QueryTarget,
  choose: (settings: RecordedSettings) => QueryPlan
): Effect.Effect<QueryPlan, ReadError> =>
  Effect.gen(function* () {
    const { collection, core, isPinned, snapshot } = target
    // The result depends on the whole collection, whichever plan is used.
    snapshot.readSet.directories.add(under(core.options.root, collection))
    const assumed = choose(yield* core.settings(snapshot))
    if (assumed._tag === "Scan") return assumed
    yield* snapshot.prefetch(() => prefetchPaths(target, assumed))
    // An index file and its documents are read with fewer requests by the branch's name; the documents are compared
    // with the index.
    if (assumed._tag === "Values" && !isPinned && !snapshot.isPinned()) return assumed
    if (Option.isNone(yield* snapshot.head))
      return { _tag: "Scan", reason: "the repository is empty" } as const
    return choose(yield* core.repository.at(snapshot))
  })

/** Plans a query and opens what the plan reads. */
export const executionOf = (target: QueryTarget): Effect.Effect<QueryExecution, ReadError> =>
  Effect.gen(function* () {
    const plan = yield* choosePlan(target, (settings) => planIn(target, settings))
    if (plan._tag === "Scan") return scanExecution(target, plan)
    if (plan._tag === "Values") return yield* valuesExecution(target, plan)
    return yield* plan._tag === "Tree" ? treeExecution(target, plan) : manifestExecution(target, plan)
  })

const indexMismatch = { reason: "the index disagrees with the documents" }

/** The number of matches of an execution. */
export const countMatches = (
  target: QueryTarget,
  execution: QueryExecution
): Effect.Effect<number, ReadError> => {
  const countIn = <E>({ count, matches }: QueryExecution<E>): Effect.Effect<number, E> =>
    count ?? Effect.map(idsOf(matches), ({ size }) => size)
  return Effect.catchTag(countIn(execution), "IndexMismatch", () =>
    countIn(scanExecution(target, indexMismatch))
  )
}

/** If there are more documents than this, only their ids are kept while sorting, and the documents are read again. */
const maxKept = 1000

/** The first rows of a stream, in order. */
const firstOf = <A extends Keyed, E>(
  matches: Stream.Stream<Match, E>,
  limit: number,
  rowOf: (match: Match) => A
): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.suspend(() => {
    const first = new FirstRows<A>(limit)
    return Effect.zipRight(
      forEachChunk(matches, (found) => Steps.run(() => first.add(found.map(rowOf)))),
      Steps.run(() => first.sorted())
    )
  })

/** The matches of an execution in the order of the query, up to the limit. */
const inOrder = <E>(
  target: QueryTarget,
  execution: QueryExecution<E>
): Stream.Stream<Match, E | ReadError> => {
  const { limit } = target
  if (execution.isOrdered)
    return limit === undefined ? execution.matches : Stream.take(execution.matches, limit)
  if (limit !== undefined && limit <= maxKept) {
    return Stream.unwrap(Effect.map(firstOf(execution.matches, limit, identity), fromArray))
  }
  return Stream.unwrap(
    Effect.gen(function* () {
      // The documents are read again at the same commit.
      yield* target.snapshot.head
      const first = yield* firstOf(execution.matches, limit ?? Number.POSITIVE_INFINITY, (match) => ({
        key: match.key,
        id: match.id,
        row: match.file === undefined ? match : undefined
      }))
      return Stream.mapChunksEffect(rechunk(fromArray(first), readGroupSize(target)), (group) =>
        Effect.gen(function* () {
          const ids = Chunk.toReadonlyArray(group).flatMap(({ id, row }) => (row === undefined ? [id] : []))
          const found = yield* collect(matchesAmong(target, documentFilesById(target, ids)))
          const read = new Map(found.map((match) => [match.id, match]))
          return Chunk.filterMap(group, ({ id, row }) => Option.fromNullable(row ?? read.get(id)))
        })
      )
    })
  )
}

/**
 * The matches of a query in order, up to the limit. If an index turns out to be wrong, the remaining matches are found
 * by a scan.
 */
export const runQuery = (target: QueryTarget, execution: QueryExecution): Stream.Stream<Match, ReadError> =>
  Stream.suspend(() => {
    let last: Match | undefined
    let emitted = 0
    const counted = Stream.tap(inOrder(target, execution), (matches) =>
      Effect.sync(() => {
        last = matches
        emitted++
      })
    )
    return Stream.catchAll(counted, (error) => {
      if (error._tag !== "IndexMismatch") return Stream.fail(error)
      const after = last === undefined ? target.after : positionOf(target.query, last)
      const limit = target.limit === undefined ? undefined : target.limit - emitted
      if (limit === 0) return Stream.empty
      const again = { ...target, after, limit }
      return inOrder(again, scanExecution(again, indexMismatch))
    })
  })

/** How often an index is tried while the branch moves; after that the documents of one commit are scanned. */
const maxAttempts = 3

/** A result of a query, and the execution that produced it. */
export interface QueryRun<A> {
  readonly target: QueryTarget
  readonly execution: QueryExecution
  readonly result: A
}

/**
 * Collects the result of a query. If an index that was read by the branch's name disagrees with the documents, the
 * query starts again with the next target.
 */
export const collectQuery = <A>(
  nextTarget: () => QueryTarget,
  collect: (
    matches: Stream.Stream<Match, ReadError | IndexMismatch>
  ) => Effect.Effect<A, ReadError | IndexMismatch>,
  attempt = 1
): Effect.Effect<QueryRun<A>, ReadError> =>
  Effect.gen(function* () {
    const target = nextTarget()
    const execution =
      attempt > maxAttempts ? scanExecution(target, indexMismatch) : yield* executionOf(target)
    const result = yield* Effect.asSome(collect(inOrder(target, execution))).pipe(
      Effect.catchTag("IndexMismatch", () => Effect.succeedNone)
    )
    if (Option.isSome(result)) return { target, execution: execution, result: result.value }
    return yield* collectQuery(
      nextTarget,
      collect,
      target.snapshot.isPinned() ? maxAttempts + 1 : attempt + 1
    )
  })
