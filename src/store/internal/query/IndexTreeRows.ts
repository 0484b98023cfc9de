import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { collect, concatAll, fromArray } from "../../../domain/concurrency/Streams.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { isDocumentId } from "../../../domain/identifiers/DocumentId.js"
import { afterPrefix, descending, sortKey, tupleSortKey } from "../../../domain/indexes/SortKey.js"
import { equalJson } from "../../../domain/json/JsonEquality.js"
import { toJson } from "../../../domain/json/LosslessJson.js"
import { satisfiesAll } from "../../../domain/query/Matching.js"
import { idKey, testsAt } from "../../../domain/query/Ordering.js"
import { conjuncts } from "../../../domain/query/Predicate.js"
import type { SettingsAt } from "../commit/StoreCore.js"
import { collectionTree } from "../derived/Derived.js"
import { openTreeAt, type RowMapping, rowsOfIndex, rowsOfManifest } from "../derived/DerivedTree.js"
import { treeReader } from "../derived/SnapshotReader.js"
import type { BrokenTree } from "../ordered-tree/BrokenTree.js"
import type { Row } from "../ordered-tree/Leaf.js"
import type { Node } from "../ordered-tree/Node.js"
import { type ReadSteps, run } from "../ordered-tree/ReadSteps.js"
import * as Scan from "../ordered-tree/Scan.js"
import type { StoredTree } from "../ordered-tree/StoredTree.js"
import { changedBlobs } from "../snapshot/CollectionChanges.js"
import type { KeyRange } from "./KeyRanges.js"
import type { UnusableIndex } from "./QueryExecution.js"
import { comparesWholeList, type IndexSpan, type ManifestPlan, type TreePlan } from "./QueryPlan.js"
import { documentFilesById, filterOf, type Match, matchesAmong, type QueryTarget } from "./QueryTarget.js"
import { distinctKeys, type Keyed, mergeSorted } from "./SortedStreams.js"

/** If more documents than this changed without an index, the index is not used. */
const maxDiffering = 10_000

/** A tree that is used for a query, and the documents that changed since it was written. */
export interface OpenTree {
  readonly tree: StoredTree<ReadError>
  readonly rows: RowMapping
  readonly path: string
  /** Documents that changed since the tree was written: their rows are ignored. */
  readonly differing: ReadonlySet<string>
  /** The matching ones among them, in order. */
  readonly corrections: ReadonlyArray<Match>
}

/** Opens the tree of an index or a manifest, or returns why it cannot be used. */
export const openTree = (
  target: QueryTarget,
  settings: SettingsAt,
  plan: TreePlan | ManifestPlan
): Effect.Effect<Either.Either<OpenTree, UnusableIndex>, ReadError> =>
  Effect.gen(function* () {
    const { collection, core, snapshot } = target
    const isIndex = plan._tag === "Tree"
    const path = isIndex
      ? core.derived.indexTreePath(collection, plan.index.name)
      : core.derived.manifestTreePath(collection)
    const name = isIndex ? `the index ${plan.index.name}` : "the manifest"
    const rows = isIndex ? rowsOfIndex(plan.index) : rowsOfManifest(plan.fields)
    const state = yield* openTreeAt(treeReader(core, snapshot.untracked), core.derived.cache.trees, {
      path,
      rows
    })
    const behind = (reason: string) => Either.left({ reason, path, isCurrent: false })
    if (state._tag === "Missing") return Either.left({ reason: `${name} has no files` })
    if (state._tag === "Damaged") return behind(`${name} is damaged: ${state.problem.message}`)
    const { tree } = state
    const now = collectionTree(settings, collection)
    const changed =
      tree.header.tree === now
        ? Option.some([])
        : yield* changedBlobs(core.remote, settings.settings, tree.header.tree, now)
    if (Option.isNone(changed)) {
      return behind(`${name} is outdated, and the changes since then cannot be determined`)
    }
    if (changed.value.length > maxDiffering) {
      return behind(`${changed.value.length} documents changed without ${name}`)
    }
    const there = changed.value.flatMap(({ after, id }) => (after === undefined ? [] : [id]))
    const found =
      there.length === 0 ? [] : yield* collect(matchesAmong(target, documentFilesById(target, there)))
    return Either.right({
      tree,
      rows,
      path,
      differing: new Set(changed.value.map(({ id }) => id)),
      corrections: [...found].sort((a, b) => (a.key < b.key ? -1 : 1))
    })
  })

/** A row of an index whose document may match the query. */
export interface MatchingRow extends Keyed {
  readonly id: string
  readonly rowKey: string
}

const own = (row: Row, path: string) => (Object.hasOwn(row, path) ? row[path] : undefined)

/**
 * Whether the document of a row may match. Every matching document has a row that passes: the one in which each field
 * has a value that satisfies all conditions on this field, and for lists the row that determines the position.
 */
export const rowTest = ({ index }: TreePlan, { query }: QueryTarget): ((row: Row) => boolean) => {
  const tests = index.fields.flatMap(({ path }) => {
    const tests = testsAt(query.predicate, path)
    return tests === undefined || comparesWholeList(tests) ? [] : [{ path, satisfies: satisfiesAll(tests) }]
  })
  return (row) =>
    tests.every(({ path, satisfies }) => {
      const value = own(row, path)
      return value !== undefined && satisfies(toJson(value))
    })
}

/** Whether the rows that pass are exactly those of the matching documents, so that the documents need not be read. */
export const coversQuery = ({ index }: TreePlan, { query }: QueryTarget): boolean =>
  conjuncts(query.predicate).every((one) => {
    if (one._tag !== "Field" || (one.whole && one.path.includes("."))) return false
    const [only, ...more] = one.tests
    const held = index.where?.get(one.path)
    if (held !== undefined && more.length === 0 && only?.operator === "is" && equalJson(only.value, held)) {
      return true
    }
    const isIndexed = index.fields.some(({ path }) => path === one.path)
    return isIndexed && testsAt(query.predicate, one.path) !== undefined && !comparesWholeList(one.tests)
  })

/** Estimates which share of the rows below a node lies in a range, from the numbers of files and directories. */
function* rangeShare(tree: StoredTree<ReadError>, node: Node, { from, until }: KeyRange): ReadSteps<number> {
  const children = yield* tree.children(node)
  const low = yield* tree.locate(children, from)
  const high = yield* tree.locate(children, until)
  if (low > high) return 0
  if (children[0]!.isLeaf) return (high - low + 1) / children.length
  let share = Math.max(0, high - low - 1)
  for (const at of new Set([low, high])) share += yield* rangeShare(tree, children[at]!, { from, until })
  return share / children.length
}

/** Estimates the number of rows in the spans of a plan. */
export const estimateRows = (
  plan: TreePlan,
  { tree }: OpenTree
): Effect.Effect<number, ReadError | BrokenTree> =>
  Effect.map(
    Effect.forEach(plan.spans, (span) => run(tree.reader, () => rangeShare(tree, tree.root, span))),
    (shares) =>
      Math.min(
        tree.header.count,
        shares.reduce((sum, share) => sum + Math.ceil(share * tree.header.count), 0)
      )
  )

/** The sort key of a row's document, if the row contains all fields of the order. */
const rowKeys = ({ query: { order } }: QueryTarget): ((row: Row, id: string) => string) => {
  const directions = order.fields.map(({ order }) => order)
  return (row, id) =>
    tupleSortKey(
      order.fields.map(({ path }) => own(row, path)),
      directions
    ) + idKey(id, order.ids)
}

/** The part of a span after the start position of the query; undefined if there is none. */
const remainingSpan = (
  plan: TreePlan,
  { after, query: { order } }: QueryTarget,
  span: IndexSpan
): IndexSpan | undefined => {
  if (after === undefined || !plan.isOrdered) return span
  const { fields } = plan.index
  const common = new Map(span.common.map((value, at) => [fields[at]!.path, value]))
  let prefix = ""
  let own = 0
  for (const { order: direction, path } of order.fields) {
    const isCommon = common.has(path)
    // A field of the order that varies precedes one that does not: the rows are compared one by one.
    if (isCommon && own > 0) return span
    if (!isCommon) own++
    else {
      const key = sortKey(common.get(path))
      prefix += direction === "desc" ? descending(key) : key
    }
  }
  if (!after.key.startsWith(prefix)) return after.key < prefix ? span : undefined
  const base = tupleSortKey(
    span.common,
    fields.map(({ order }) => order)
  )
  const turned = (text: string) => base + (plan.reverse ? descending(text) : text)
  const behind = plan.idsAreOpposite
    ? turned(after.fields.slice(prefix.length))
    : turned(after.key.slice(prefix.length))
  if (!plan.reverse) return behind > span.from ? { ...span, from: behind } : span
  const until = plan.idsAreOpposite ? afterPrefix(behind) : behind
  return until < span.until ? { ...span, until } : span
}

/** Reverses the ids among rows whose fields are all equal. */
const reverseIds = <E>(
  { query: { order } }: QueryTarget,
  rows: Stream.Stream<MatchingRow, E>
): Stream.Stream<MatchingRow, E> =>
  Stream.suspend(() => {
    let equal: Array<MatchingRow> = []
    let fields: string | undefined
    const turned = Stream.mapConcat(rows, (row) => {
      const own = row.key.slice(0, row.key.length - idKey(row.id, order.ids).length)
      if (own === fields) {
        equal.push(row)
        return []
      }
      const before = equal.reverse()
      equal = [row]
      fields = own
      return before
    })
    return Stream.concat(
      turned,
      Stream.suspend(() => fromArray(equal.reverse()))
    )
  })

/** The rows of a plan's spans after the start position of the query. */
export const matchingRows = (
  target: QueryTarget,
  plan: TreePlan,
  { differing, tree }: OpenTree
): Stream.Stream<MatchingRow, ReadError | BrokenTree> => {
  const passes = rowTest(plan, target)
  const keyOf = plan.isOrdered ? rowKeys(target) : () => ""
  const { isBehind } = filterOf(target)
  const streams = plan.spans.flatMap((span) => {
    const left = remainingSpan(plan, target, span)
    if (left === undefined) return []
    const rows = Scan.scan(tree, { from: left.from, until: left.until, reverse: plan.reverse }).pipe(
      Stream.filterMap((entry) => {
        target.reads.entries++
        const { row } = entry
        const id = String(row["_id"])
        if (differing.has(id) || !isDocumentId(id) || !passes(row)) return Option.none()
        const key = keyOf(row, id)
        return plan.isOrdered && !isBehind(key)
          ? Option.none()
          : Option.some<MatchingRow>({ key, id, rowKey: entry.key })
      })
    )
    return [plan.idsAreOpposite ? reverseIds(target, rows) : rows]
  })
  if (!plan.isOrdered) return concatAll(streams)
  return distinctKeys(mergeSorted(streams))
}
