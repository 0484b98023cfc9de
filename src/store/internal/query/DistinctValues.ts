import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { afterPrefix, descending, sortKey } from "../../../domain/indexes/SortKey.js"
import type { Json } from "../../../domain/json/Json.js"
import type { LosslessJson } from "../../../domain/json/LosslessJson.js"
import { toJson } from "../../../domain/json/LosslessJson.js"
import { valuesIn } from "../../../domain/query/Matching.js"
import type { BrokenTree } from "../ordered-tree/BrokenTree.js"
import * as Scan from "../ordered-tree/Scan.js"
import type { RecordedSettings } from "../snapshot/RepositorySettings.js"
import type { OpenTree } from "./IndexTreeRows.js"
import { scanExecution } from "./QueryExecution.js"
import type { QueryPlan } from "./QueryPlan.js"
import type { IndexMismatch, QueryTarget } from "./QueryTarget.js"
import { choosePlan, openPlanTree, trees } from "./RunQuery.js"

/** Collects distinct values, as JavaScript represents them. An empty list has no value. */
class Values {
  readonly #values = new Map<string, Json>()

  add(value: LosslessJson): void {
    if (Array.isArray(value) && value.length === 0) return
    const read = toJson(value)
    this.#values.set(sortKey(read), read)
  }

  get sorted(): Effect.Effect<ReadonlyArray<Json>> {
    return Effect.map(
      Steps.run(() => Steps.sorted([...this.#values], ([a], [b]) => (a < b ? -1 : 1))),
      (sorted) => sorted.map(([, value]) => value)
    )
  }
}

/** After this many rows with one value, a search from the root of the tree skips the remaining ones. */
const maxRowsPerValue = 500

/** Reads the values of a field from an index whose first field it is. */
const valuesInIndex = (
  target: QueryTarget,
  path: string,
  order: "asc" | "desc",
  { differing, tree }: OpenTree,
  values: Values
) =>
  Effect.gen(function* () {
    let from: string | undefined = ""
    while (from !== undefined) {
      const start: string = from
      let last: string | undefined
      let run = 0
      const behind: Option.Option<string> = yield* Scan.scan(tree, { from: start }).pipe(
        Stream.filterMap(({ row }) => {
          target.reads.entries++
          const value = Object.hasOwn(row, path) ? row[path] : undefined
          if (value === undefined) return Option.none()
          if (!differing.has(String(row["_id"]))) values.add(value)
          const key = sortKey(value)
          run = key === last ? run + 1 : 0
          last = key
          return run < maxRowsPerValue ? Option.none() : Option.some(key)
        }),
        Stream.runHead
      )
      from = Option.getOrUndefined(
        Option.map(behind, (key) => afterPrefix(order === "desc" ? descending(key) : key))
      )
    }
  })

/** The plan that finds the values of a field without reading documents. */
const planIn =
  ({ collection }: QueryTarget, path: string) =>
  ({ settings }: RecordedSettings): QueryPlan => {
    const none: QueryPlan = { _tag: "Scan", reason: `no index begins with ${path}` }
    if (settings.format === 1) return none
    const index = (settings.indexes.get(collection) ?? []).find(
      ({ fields, where }) => where === undefined && fields[0]!.path === path
    )
    if (index !== undefined) {
      const all = { from: "", until: afterPrefix(""), common: [] }
      const spans = [all]
      return {
        _tag: "Tree",
        index,
        spans,
        restricted: 0,
        isOrdered: false,
        reverse: false,
        idsAreOpposite: false
      }
    }
    const fields = settings.manifests.get(collection)
    return fields?.includes(path) === true && !path.includes(".") ? { _tag: "Manifest", fields } : none
  }

/** The distinct values of a field, in order. */
export const distinctValues = (
  target: QueryTarget,
  path: string
): Effect.Effect<ReadonlyArray<Json>, ReadError> =>
  Effect.gen(function* () {
    const values = new Values()
    const plan = yield* choosePlan(target, planIn(target, path))
    const opened =
      plan._tag === "Tree" || plan._tag === "Manifest"
        ? yield* openPlanTree(target, plan)
        : Either.left(undefined)
    if (Either.isRight(opened)) {
      const open = opened.right
      for (const { document } of open.corrections)
        for (const value of valuesIn(document, path)) values.add(value)
      const read: Effect.Effect<void, ReadError | BrokenTree | IndexMismatch> =
        plan._tag === "Tree"
          ? valuesInIndex(target, path, plan.index.fields[0]!.order, open, values)
          : Stream.runForEach((yield* trees).manifestMatches(target, open), ({ document }) =>
              Effect.sync(() => {
                for (const value of valuesIn(document, path)) values.add(value)
              })
            )
      const isRead = yield* Effect.as(read, true).pipe(
        Effect.catchTags({
          BrokenTree: () => Effect.succeed(false),
          IndexMismatch: () => Effect.succeed(false)
        })
      )
      if (isRead) return yield* values.sorted
    }
    const scanned = new Values()
    yield* Stream.runForEach(scanExecution(target, { reason: "" }).matches, ({ document }) =>
      Effect.sync(() => {
        for (const value of valuesIn(document, path)) scanned.add(value)
      })
    )
    return yield* scanned.sorted
  })
