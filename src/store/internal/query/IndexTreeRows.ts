import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
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

/** Documents that may have changed without an index before it is not used any more. */
const mostDiffering = 10_000

/** A tree that can answer a query, with what it does not know of. */
export interface OpenTree {
  readonly tree: StoredTree<ReadError>
  readonly rows: RowMapping
  readonly path: string
  /** Documents that differ from those that the tree describes: whatever its rows say of them is not looked at. */
  readonly differing: ReadonlySet<string>
  /** Those of them that the query finds, in order. */
  readonly corrections: ReadonlyArray<Match>
}

/** Opens the tree of an index or a manifest, or says why it cannot be used. */
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
      return behind(`${name} is behind, and what has changed since cannot be told`)
    }
    if (changed.value.length > mostDiffering) {
      return behind(`${changed.value.length} documents changed without ${name}`)
    }
    const there = changed.value.flatMap(({ after, id }) => (after === undefined ? [] : [id]))
    const found = yield* Stream.runCollect(matchesAmong(target, documentFilesById(target, there)))
    return Either.right({
      tree,
      rows,
      path,
      differing: new Set(changed.value.map(({ id }) => id)),
      corrections: [...found].sort((a, b) => (a.key < b.key ? -1 : 1))
    })
  })

/** A row of an index that may be of a document that the query finds. */
export interface RowFound extends Keyed {
  readonly id: string
  readonly rowKey: string
}

const own = (row: Row, path: string) => (Object.hasOwn(row, path) ? row[path] : undefined)

/**
 * Whether a row may be of a document that the query finds. Of each such document a row passes in which every field has a value
 * that satisfies the conditions of that field; of lists it is the row that orders the document.
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

/** Whether the rows that pass are exactly those of the documents that the query finds, so that these need not be read. */
export const isCovered = ({ index }: TreePlan, { query }: QueryTarget): boolean =>
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

/** The part of the rows below a node that lies in a range, by the numbers of files and directories. */
function* shareOf(tree: StoredTree<ReadError>, node: Node, { from, until }: KeyRange): ReadSteps<number> {
  const children = yield* tree.children(node)
  const low = yield* tree.locate(children, from)
  const high = yield* tree.locate(children, until)
  if (low > high) return 0
  if (children[0]!.isLeaf) return (high - low + 1) / children.length
  let share = Math.max(0, high - low - 1)
  for (const at of new Set([low, high])) share += yield* shareOf(tree, children[at]!, { from, until })
  return share / children.length
}

/** About how many rows the spans of a plan have. */
export const estimateRows = (
  plan: TreePlan,
  { tree }: OpenTree
): Effect.Effect<number, ReadError | BrokenTree> =>
  Effect.map(
    Effect.forEach(plan.spans, (span) => run(tree.reader, () => shareOf(tree, tree.root, span))),
    (shares) =>
      Math.min(
        tree.header.count,
        shares.reduce((sum, share) => sum + Math.ceil(share * tree.header.count), 0)
      )
  )

/** The key of a row's document in the order of the query, whose fields are all in the row. */
const rowKeys = ({ query: { order } }: QueryTarget): ((row: Row, id: string) => string) => {
  const directions = order.fields.map(({ order }) => order)
  return (row, id) =>
    tupleSortKey(
      order.fields.map(({ path }) => own(row, path)),
      directions
    ) + idKey(id, order.ids)
}

/** The part of a span that is behind the place where the query begins; undefined where none is. */
const rest = (
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
    // Fields of the order that vary stand before one that does not: the rows are looked at one by one.
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

/** Turns the ids round within rows that are equal in all fields. */
const turnIds = <E>(
  { query: { order } }: QueryTarget,
  rows: Stream.Stream<RowFound, E>
): Stream.Stream<RowFound, E> =>
  Stream.suspend(() => {
    let equal: Array<RowFound> = []
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
      Stream.suspend(() => Stream.fromIterable(equal.reverse()))
    )
  })

/** The rows of a plan's spans that are behind the place where the query begins. */
export const rowsFound = (
  target: QueryTarget,
  plan: TreePlan,
  { differing, tree }: OpenTree
): Stream.Stream<RowFound, ReadError | BrokenTree> => {
  const passes = rowTest(plan, target)
  const keyOf = plan.isOrdered ? rowKeys(target) : () => ""
  const { isBehind } = filterOf(target)
  const streams = plan.spans.flatMap((span) => {
    const left = rest(plan, target, span)
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
          : Option.some<RowFound>({ key, id, rowKey: entry.key })
      })
    )
    return [plan.idsAreOpposite ? turnIds(target, rows) : rows]
  })
  if (!plan.isOrdered) return Stream.flatMap(Stream.fromIterable(streams), (stream) => stream)
  return distinctKeys(mergeSorted(streams))
}
