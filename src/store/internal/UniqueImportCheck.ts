import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ReadError } from "../../domain/errors/StoreError.js"
import { describeViolation } from "../../domain/indexes/UniqueViolation.js"
import type { LosslessObject } from "../../domain/json/LosslessJson.js"
import type { StoreCore } from "./commit/StoreCore.js"
import { collectionTree } from "./derived/Derived.js"
import { documentsOf, storedOf } from "./derived/DerivedWrites.js"
import {
  holdersAmong,
  type UniqueIndex,
  type UniqueValues,
  uniqueValues,
  violationOf
} from "./derived/Uniqueness.js"

/** A record as the document that it would become. */
interface Row {
  readonly id: string
  readonly document: LosslessObject
}

/** The document that is stored now; undefined if there is none, or if it is one of the previous rows. */
type StoredDocument = (id: string) => LosslessObject | undefined

/** A unique index with the values of the previous rows. */
interface Judged {
  readonly index: UniqueIndex
  readonly rows: Map<string, UniqueValues>
  /** The rows that have a value, by its key. */
  readonly held: Map<string, Set<string>>
  /** The rows that were refused: they do not have their values. */
  readonly refused: Set<string>
}

/** An index that does not describe the current documents is replaced by one that is computed from all documents. */
const current = (core: StoreCore, collection: string) =>
  Effect.gen(function* () {
    const snapshot = core.snapshot().untracked
    const head = yield* snapshot.head
    const settings = yield* core.repository.at(snapshot)
    const files = yield* core.derived.filesOf(snapshot, settings, collection)
    if (
      Option.isNone(head) ||
      !Array.from(files.indexes.values()).some(({ definition }) => definition.unique)
    ) {
      return Array.from(files.indexes.values()).flatMap(({ definition }) =>
        definition.unique ? [among(collection, definition, new Map())] : []
      )
    }
    const stored = yield* storedOf(core, snapshot, settings, collection, files, { isTouched: false, now: "" })
    const unique = stored.filter((file) => file.unique !== undefined)
    const before = collectionTree(settings, collection)
    const isStale = unique.some(({ recorded }) => recorded !== before)
    const paths = new Set(unique.flatMap(({ fields }) => fields))
    const documents = isStale
      ? yield* documentsOf(core, head.value, settings, collection, paths, undefined)
      : new Map<string, LosslessObject>()
    return yield* Effect.forEach(unique, ({ recorded, unique }) =>
      recorded === before
        ? Effect.succeed(unique!)
        : Effect.map(
            holdersAmong(
              unique!.definition,
              Array.from(documents, ([id, document]) => ({ id, document }))
            ),
            (holders) => among(collection, unique!.definition, holders)
          )
    )
  })

/** A unique index over given documents. */
const among = (
  collection: string,
  definition: UniqueIndex["definition"],
  known: ReadonlyMap<string, ReadonlyArray<string>>
): UniqueIndex => ({
  collection,
  definition,
  holders: (values, except) =>
    Effect.succeedSome(
      new Map(
        Array.from(values.keys()).flatMap((key): ReadonlyArray<[string, string]> => {
          const holder = known.get(key)?.find((id) => !except.has(id))
          return holder === undefined ? [] : [[key, holder]]
        })
      )
    )
})

/**
 * Checks rows against the unique indexes of a collection, chunk by chunk, as if the previous chunks were stored.
 * Returns why rows would be refused, by id. A document keeps a value that it shares with another one already.
 */
export const uniqueDryRun = (core: StoreCore, collection: string) => {
  let opened: ReadonlyArray<Judged> | undefined
  const ids = new Set<string>()

  /** Adds a row, and returns the values that it gains. */
  const add = ({ held, index, refused, rows }: Judged, { document, id }: Row, stored: StoredDocument) => {
    const was = stored(id)
    const before = rows.get(id) ?? (was && uniqueValues(index.definition, was))
    for (const key of rows.get(id)?.keys() ?? []) held.get(key)?.delete(id)
    const values = uniqueValues(index.definition, document)
    rows.set(id, values)
    for (const key of values.keys()) {
      const holders = held.get(key)
      if (holders === undefined) held.set(key, new Set([id]))
      else holders.add(id)
    }
    return refused.has(id) ? values : new Map([...values].filter(([key]) => before?.has(key) !== true))
  }

  return (
    chunk: ReadonlyArray<Row>,
    before: StoredDocument
  ): Effect.Effect<ReadonlyMap<string, string>, ReadError> =>
    Effect.gen(function* () {
      opened ??= (yield* current(core, collection)).map((index) => ({
        index,
        rows: new Map(),
        held: new Map(),
        refused: new Set()
      }))
      const refused = new Map<string, string>()
      for (const { id } of chunk) ids.add(id)
      for (const judged of opened) {
        const { held, index } = judged
        const gained = chunk.map((row) => [row.id, add(judged, row, before)] as const)
        const wanted = new Map(gained.flatMap(([, values]) => [...values]))
        const stored = Option.getOrElse(yield* index.holders(wanted, ids), () => new Map<string, string>())
        for (const [id, values] of gained) {
          judged.refused.delete(id)
          for (const [key, value] of values) {
            const other = stored.get(key) ?? Array.from(held.get(key) ?? []).find((one) => one !== id)
            if (other === undefined) continue
            judged.refused.add(id)
            refused.set(id, describeViolation(violationOf(index, value, id, other)))
          }
        }
      }
      return refused
    })
}
