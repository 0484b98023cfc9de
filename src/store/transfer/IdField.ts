import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { normaliseRecord } from "./Normalise.js"

/** The field of the ids if no other is named: records may be without it. */
export const defaultIdField = "_id"

/** The number of records of which one must have the field. */
const mostHeld = 100

/** The number of fields that the error names. */
const mostNamed = 30

/** The names of a record's fields; undefined for a record that cannot be imported. */
const fieldsOf = (record: unknown): ReadonlyArray<string> | undefined => {
  try {
    return Object.keys(normaliseRecord(record))
  } catch {
    return undefined
  }
}

const missingField = (idField: string, held: ReadonlyArray<ReadonlyArray<string>>) => {
  const fields = [...new Set(held.flat())]
  const named = fields.slice(0, mostNamed).join(", ")
  return new ValidationError({
    operation: "Collection.importRecords",
    message:
      `${held.length < mostHeld ? "no record" : `none of the first ${mostHeld} records`} has the field ${idField} for its id: ` +
      `the fields are ${named}${fields.length > mostNamed ? " and others" : ""}`,
    hint: "name the field that contains the ids, or none to generate ids"
  })
}

/**
 * Fails before the first record if another field than the default is given for the ids and none of the first records has it: every document
 * would get a generated id.
 */
export const requireIdField = <E, R>(
  records: Stream.Stream<unknown, E, R>,
  idField: string
): Stream.Stream<unknown, E | ValidationError, R> =>
  idField === defaultIdField
    ? records
    : Stream.suspend(() => {
        let isFound = false
        let held: ReadonlyArray<unknown> = []
        const fields: Array<ReadonlyArray<string>> = []
        const look = (record: unknown) => {
          if (isFound || fields.length === mostHeld) return
          const isOwn = typeof record === "object" && record !== null && Object.hasOwn(record, idField)
          const found = isOwn ? undefined : fieldsOf(record)
          if (found === undefined || found.includes(idField)) isFound = true
          else fields.push(found)
        }
        const passed = Stream.mapChunksEffect(records, (chunk) => {
          if (isFound) return Effect.succeed(chunk)
          for (const record of chunk) look(record)
          if (!isFound && fields.length === mostHeld) return Effect.fail(missingField(idField, fields))
          const all = [...held, ...chunk]
          held = isFound ? [] : all
          return Effect.succeed(isFound ? Chunk.unsafeFromArray(all) : Chunk.empty<unknown>())
        })
        const ended = Stream.suspend(() =>
          isFound || fields.length === 0 ? Stream.empty : Stream.fail(missingField(idField, fields))
        )
        return Stream.concat(passed, ended)
      })
