import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { isDocumentId } from "../../domain/DocumentId.js"
import { lazy } from "../../domain/Lazy.js"
import { idKey } from "../../domain/query/Ordering.js"
import { isAlways } from "../../domain/query/Predicate.js"
import { settingsFileName } from "../../domain/Settings.js"
import { documentIn } from "../../domain/SpelledJson.js"
import type { ReadError } from "../../domain/StoreError.js"
import { under } from "../DocumentPath.js"
import { IndexDisagrees, idOf } from "./IndexedRead.js"
import { lookup } from "./Lookup.js"
import type { LookupPlan } from "./LookupPlan.js"
import type { BrokenTree } from "./ordered-tree/BrokenTree.js"
import { headerName, rowsName } from "./ordered-tree/Header.js"
import { type ManifestPlan, type Plan, planOf, type TreePlan, type ValuesPlan } from "./QueryPlan.js"
import type { OpenTree } from "./QueryRows.js"
import { FirstRows } from "./QuerySorting.js"
import { type Found, filesOf, foundAmong, groupOf, placeOf, type Target } from "./QueryTarget.js"
import { scanning, type Way } from "./QueryWay.js"
import type { RecordedSettings } from "./RepositorySettings.js"

/** Loaded where a repository has trees. */
export const trees = lazy(() => import("./QueryTreeAnswer.js"))
const rows = lazy(() => import("./QueryRows.js"))

type IndexLookup = Extract<LookupPlan, { readonly _tag: "Index" }>

/** The documents that index files of format 1 name for some values. */
const byValues = (target: Target, plan: ValuesPlan): Effect.Effect<Way, ReadError> =>
  Effect.gen(function* () {
    const { after, collection, core, query, snapshot } = target
    const found: Array<IndexLookup> = []
    for (const value of plan.values) {
      const one = yield* lookup(core, snapshot, collection, plan.path, value)
      if (one._tag === "Scan") return scanning(target, one.reason, one.index, one.current)
      found.push(one)
    }
    const [first] = found
    const ids = [...new Set(found.flatMap(({ ids }) => ids))].filter(isDocumentId).sort()
    target.reads.entries += ids.length
    const isOrdered = query.order.fields.length === 0
    if (isOrdered && query.order.ids === "desc") ids.reverse()
    const wanted =
      isOrdered && after !== undefined ? ids.filter((id) => idKey(id, query.order.ids) > after.key) : ids
    const isExact = found.every(({ exact }) => exact)
    const checked = (group: ReadonlyArray<string>) =>
      Effect.flatMap(Stream.runCollect(filesOf(target, group)), (blobs) => {
        const agrees =
          !isExact ||
          (blobs.length === group.length &&
            Chunk.every(blobs, ({ content, path }) =>
              found.some(({ names }) => names(idOf(path), documentIn(content)))
            ))
        return agrees ? Effect.succeed(blobs) : new IndexDisagrees()
      })
    const files = Stream.fromIterable(wanted).pipe(
      Stream.grouped(groupOf(target)),
      Stream.mapEffect((group) => checked(Chunk.toReadonlyArray(group))),
      Stream.flattenChunks
    )
    return {
      plan,
      reason: first?.reason ?? `no value of ${plan.path} is asked for`,
      isCurrent: first?.current ?? true,
      path: first?.index,
      isOrdered,
      estimate: Effect.succeed({ entries: ids.length, documents: ids.length }),
      found: foundAmong(target, files)
    }
  })

/** Opens the tree of the index or the manifest that a plan reads, or says why that cannot be. */
export const openFor = (target: Target, plan: TreePlan | ManifestPlan) =>
  Effect.gen(function* () {
    const { collection, core, snapshot } = target
    const { openTree } = yield* rows
    snapshot.reads.directories.add(under(core.options.root, collection))
    return yield* openTree(target, yield* core.repository.at(snapshot), plan)
  })

const byManifest = (target: Target, plan: ManifestPlan): Effect.Effect<Way, ReadError> =>
  Effect.gen(function* () {
    const opened = yield* openFor(target, plan)
    if (Either.isLeft(opened)) return scanning(target, opened.left, undefined, false)
    const open = opened.right
    const { foundByManifest } = yield* trees
    const { count } = open.tree.header
    return {
      plan,
      ...currency("the manifest", open),
      isOrdered: target.query.order.fields.length === 0,
      found: asDisagreement(foundByManifest(target, open)),
      estimate: Effect.succeed({ entries: count, documents: open.differing.size }),
      ...(isAlways(target.query.predicate) && open.differing.size === 0
        ? { counted: Effect.succeed(count) }
        : {})
    }
  })

const currency = (what: string, { differing: { size }, path }: OpenTree) => ({
  reason:
    size === 0
      ? `${what} is current`
      : `${size} documents changed without ${what}, and are looked at as well`,
  isCurrent: size === 0,
  path
})

const asDisagreement = <A>(
  found: Stream.Stream<A, ReadError | BrokenTree | IndexDisagrees>
): Stream.Stream<A, ReadError | IndexDisagrees> =>
  Stream.mapError(found, (error) => (error._tag === "BrokenTree" ? new IndexDisagrees() : error))

const byTree = (target: Target, plan: TreePlan): Effect.Effect<Way, ReadError> =>
  Effect.gen(function* () {
    const opened = yield* openFor(target, plan)
    if (Either.isLeft(opened)) return scanning(target, opened.left, undefined, false)
    const open = opened.right
    const { foundByTree } = yield* trees
    const { estimateRows, isCovered, rowsFound } = yield* rows
    const ids = Stream.runFold(
      asDisagreement(rowsFound(target, plan, open)),
      new Set<string>(),
      (all, { id }) => all.add(id)
    )
    return {
      plan,
      ...currency(`the index ${plan.index.name}`, open),
      isOrdered: plan.isOrdered,
      found: asDisagreement(foundByTree(target, plan, open)),
      estimate: estimateRows(plan, open).pipe(
        Effect.catchTag("BrokenTree", () => Effect.succeed(open.tree.header.count)),
        Effect.map((entries) => ({ entries, documents: entries + open.corrections.length }))
      ),
      ...(isCovered(plan, target)
        ? { counted: Effect.map(ids, ({ size }) => size + open.corrections.length) }
        : {})
    }
  })

const planIn = ({ collection, query }: Target, { recorded, settings }: RecordedSettings): Plan =>
  planOf(query, {
    format: settings.format,
    recorded,
    indexes: settings.indexes.get(collection) ?? [],
    projected: settings.manifests.get(collection)
  })

/** Plans by the settings of the commit that is read from then on, unless the documents are scanned. */
export const planned = (
  { collection, core, snapshot }: Target,
  choose: (settings: RecordedSettings) => Plan
): Effect.Effect<Plan, ReadError> =>
  Effect.gen(function* () {
    const { root } = core.options
    const assumed = choose(yield* core.settings(snapshot))
    if (assumed._tag === "Scan") return assumed
    yield* snapshot.prefetch(() => {
      if (assumed._tag === "Values") return { files: [under(root, settingsFileName)], trees: [root] }
      const tree =
        assumed._tag === "Tree"
          ? core.derived.indexTreePath(collection, assumed.index.name)
          : core.derived.manifestTreePath(collection)
      return {
        files: [under(root, settingsFileName), `${tree}/${headerName}`],
        trees: [root, tree, `${tree}/${rowsName}`]
      }
    })
    if (Option.isNone(yield* snapshot.head))
      return { _tag: "Scan", reason: "the repository is empty" } as const
    return choose(yield* core.repository.at(snapshot))
  })

/** Finds the way to answer a query. */
export const wayOf = (target: Target): Effect.Effect<Way, ReadError> =>
  Effect.gen(function* () {
    const plan = yield* planned(target, (settings) => planIn(target, settings))
    if (plan._tag === "Scan") return scanning(target, plan.reason)
    if (plan._tag === "Values") return yield* byValues(target, plan)
    return yield* plan._tag === "Tree" ? byTree(target, plan) : byManifest(target, plan)
  })

/** How many documents a way finds. */
export const countOf = (target: Target, way: Way): Effect.Effect<number, ReadError> => {
  const found = <E>(among: Way<E>) =>
    Effect.map(
      Stream.runFold(among.found, new Set<string>(), (ids, { id }) => ids.add(id)),
      ({ size }) => size
    )
  return Effect.catchTag(way.counted ?? found(way), "IndexDisagrees", () =>
    found(scanning(target, "the index disagrees with the documents"))
  )
}

/** Of more documents than this only the ids are kept while they are sorted, and they are read a second time. */
const mostKept = 1000

/** What a way finds in the order of the query, as many as are wanted. */
const inOrder = <E>(target: Target, way: Way<E>): Stream.Stream<Found, E | ReadError> => {
  const { limit } = target
  if (way.isOrdered) return limit === undefined ? way.found : Stream.take(way.found, limit)
  if (limit !== undefined && limit <= mostKept) {
    return Stream.unwrap(
      Effect.map(
        Stream.runFold(way.found, new FirstRows<Found>(limit), (first, found) => {
          first.add(found)
          return first
        }),
        (first) => Stream.fromIterable(first.sorted())
      )
    )
  }
  return Stream.unwrap(
    Effect.gen(function* () {
      // The documents are read again by their ids, of the same commit.
      yield* target.snapshot.head
      const first = yield* Stream.runFold(
        way.found,
        new FirstRows<{ readonly key: string; readonly id: string; readonly row: Found | undefined }>(
          limit ?? Number.POSITIVE_INFINITY
        ),
        (first, found) => {
          const { id, key } = found
          first.add({ key, id, row: found.blob === undefined ? found : undefined })
          return first
        }
      )
      return Stream.fromIterable(first.sorted()).pipe(
        Stream.grouped(groupOf(target)),
        Stream.mapEffect((group) =>
          Effect.gen(function* () {
            const ids = Chunk.toReadonlyArray(group).flatMap(({ id, row }) => (row === undefined ? [id] : []))
            const read = yield* Stream.runFold(
              foundAmong(target, filesOf(target, ids)),
              new Map<string, Found>(),
              (all, found) => all.set(found.id, found)
            )
            return Chunk.filterMap(group, ({ id, row }) => Option.fromNullable(row ?? read.get(id)))
          })
        ),
        Stream.flattenChunks
      )
    })
  )
}

/** The result of a query in order, as many documents as are wanted. Where an index turns out to be wrong, the rest is scanned. */
export const answer = (target: Target, way: Way): Stream.Stream<Found, ReadError> =>
  Stream.suspend(() => {
    let last: Found | undefined
    let count = 0
    const counted = Stream.tap(inOrder(target, way), (found) =>
      Effect.sync(() => {
        last = found
        count++
      })
    )
    return Stream.catchAll(counted, (error) => {
      if (error._tag !== "IndexDisagrees") return Stream.fail(error)
      const after = last === undefined ? target.after : placeOf(target.query, last)
      const limit = target.limit === undefined ? undefined : target.limit - count
      if (limit === 0) return Stream.empty
      const again = { ...target, after, limit }
      return inOrder(again, scanning(again, "the index disagrees with the documents"))
    })
  })
