import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fromArray, rechunk } from "../../../domain/concurrency/Streams.js"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { isDocumentId } from "../../../domain/identifiers/DocumentId.js"
import { descending } from "../../../domain/indexes/SortKey.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import { toJson } from "../../../domain/json/LosslessJson.js"
import { pathsIn } from "../../../domain/query/Predicate.js"
import type { BrokenTree } from "../ordered-tree/BrokenTree.js"
import type { Row } from "../ordered-tree/Leaf.js"
import * as Scan from "../ordered-tree/Scan.js"
import { coversQuery, type MatchingRow, matchingRows, type OpenTree } from "./IndexTreeRows.js"
import type { TreePlan } from "./QueryPlan.js"
import {
  filterOf,
  IndexMismatch,
  type Match,
  type QueryTarget,
  type ReadDocument,
  readDocumentsById,
  readGroupSize
} from "./QueryTarget.js"
import { mergeSorted } from "./SortedStreams.js"

type Failure = ReadError | BrokenTree | IndexMismatch

/** Reads the documents of rows by id. A missing document is an index mismatch. */
const readRowDocuments = (
  target: QueryTarget,
  given: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, ReadDocument>, ReadError | IndexMismatch> => {
  const ids = [...new Set(given)]
  return Effect.filterOrFail(
    readDocumentsById(target, ids),
    ({ size }) => size === ids.length,
    () => new IndexMismatch()
  )
}

/** The matching documents of rows. If a document has several rows, the row that determines its position finds it. */
const documentsOf = (
  target: QueryTarget,
  plan: TreePlan,
  { rows }: OpenTree,
  group: ReadonlyArray<MatchingRow>
): Effect.Effect<Chunk.Chunk<Match>, ReadError | IndexMismatch> =>
  Effect.gen(function* () {
    const judge = filterOf(target)
    const documents = yield* readRowDocuments(
      target,
      group.map(({ id }) => id)
    )
    const all: Array<Match> = []
    const slice = TimeSlice.make()
    for (const { id, key: rowsOrder, rowKey } of group) {
      if (slice.isSpent()) yield* slice.pause
      const read = documents.get(id)!
      if (!rows.rowsOf(id, read.spelled).has(rowKey)) return yield* new IndexMismatch()
      const found = judge.found(read)
      if (found === undefined || (plan.isOrdered && found.key !== rowsOrder)) continue
      all.push(found)
    }
    return Chunk.unsafeFromArray(all)
  })

/**
 * The matches of an index. They are in the order of the query if the plan is ordered; otherwise a document may occur
 * twice.
 */
export const treeMatches = (
  target: QueryTarget,
  plan: TreePlan,
  open: OpenTree
): Stream.Stream<Match, Failure> => {
  const found: Stream.Stream<Match, Failure> = Stream.mapChunksEffect(
    rechunk(matchingRows(target, plan, open), readGroupSize(target, coversQuery(plan, target))),
    (group) => documentsOf(target, plan, open, Chunk.toReadonlyArray(group))
  )
  if (open.corrections.length === 0) return found
  const corrections = fromArray(open.corrections)
  return plan.isOrdered ? mergeSorted([found, corrections]) : Stream.concat(corrections, found)
}

/** The paths that a query reads. */
const queriedPaths = ({ query: { order, predicate, select } }: QueryTarget): ReadonlyArray<string> =>
  [...pathsIn(predicate), ...order.fields.map(({ path }) => path), ...(select ?? [])].filter(
    (path) => path !== "_id"
  )

/**
 * The matches of a manifest, in order of id. A field that a row lacks may be a list with a number that JavaScript
 * cannot represent: then the document is read.
 */
export const manifestMatches = (
  target: QueryTarget,
  { corrections, differing, tree }: OpenTree
): Stream.Stream<Match, Failure> => {
  const { isBehind, keyOf, matches } = filterOf(target)
  const { after, query } = target
  const asked = queriedPaths(target)
  const reverse = query.order.ids === "desc"
  const isById = query.order.fields.length === 0
  const key = isById && after !== undefined ? (reverse ? descending(after.key) : after.key) : undefined
  const range = reverse ? { until: key, reverse } : { from: key }
  const judged = (rows: ReadonlyArray<Row>) =>
    Effect.gen(function* () {
      const unsure = rows.filter((row) => !asked.every((path) => Object.hasOwn(row, path)))
      const documents = yield* readRowDocuments(target, unsure.map(idIn))
      const all: Array<Match> = []
      for (const row of rows) {
        const id = idIn(row)
        const read = documents.get(id)
        const document = read?.document ?? (toJson(row) as JsonObject)
        if (!matches(document)) continue
        const key = keyOf(read?.spelled ?? row, id)
        if (isBehind(key)) all.push({ key, id, document, file: read?.file })
      }
      return Chunk.unsafeFromArray(all)
    })
  const rows: Stream.Stream<Match, Failure> = Scan.scan(tree, isById ? range : {}).pipe(
    Stream.filterMap(({ row }) => {
      target.reads.entries++
      const id = idIn(row)
      return differing.has(id) || !isDocumentId(id) ? Option.none() : Option.some(row)
    }),
    (found) => rechunk(found, readGroupSize(target)),
    Stream.mapChunksEffect((group) => judged(Chunk.toReadonlyArray(group)))
  )
  if (corrections.length === 0) return rows
  const corrected = fromArray(corrections)
  return isById ? mergeSorted([rows, corrected]) : Stream.concat(corrected, rows)
}

const idIn = (row: Row): string => String(row["_id"])
