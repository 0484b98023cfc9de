import * as Either from "effect/Either"
import { encodeInline, type JsonProblem } from "../../../domain/CanonicalJson.js"
import { parseSpelled, type SpelledObject } from "../../../domain/SpelledJson.js"
import { Separator } from "./Separator.js"

/** A row of a tree: fields of a document, with its `_id`. */
export type Row = SpelledObject

/** The key of a row, by which rows are sorted. No two rows of a tree have one key. */
export type KeyOf = (row: Row) => string

/** A row with its key, and its line in a leaf. */
export class Entry {
  #separator: Separator | undefined

  constructor(
    readonly key: string,
    readonly row: Row,
    readonly line: string,
    /** The bytes of the line, with what stands between it and the next one. */
    readonly weight: number
  ) {}

  get separator(): Separator {
    this.#separator ??= Separator.of(this.key)
    return this.#separator
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const between = ",\n"
const opening = "[\n"
const closing = "\n]\n"

const nonAscii = /[^\x00-\x7f]/

const bytesIn = (line: string): number => (nonAscii.test(line) ? encoder.encode(line).length : line.length)

const entry = (key: string, row: Row, line: string): Entry =>
  new Entry(key, row, line, bytesIn(line) + between.length)

/** A row as it will lie in a leaf. */
export const entryOf = (row: Row, keyOf: KeyOf): Either.Either<Entry, JsonProblem> =>
  // Within a list within an object, as it is read again: no row may be too deep for that.
  Either.map(encodeInline([[row]]), (text) => entry(keyOf(row), row, text.slice(2, -2)))

/** The bytes of a leaf: a JSON list with one row in a line. */
export const printLeaf = (entries: ReadonlyArray<Entry>): Uint8Array =>
  encoder.encode(
    entries.length === 0 ? "[]\n" : opening + entries.map(({ line }) => line).join(between) + closing
  )

/** What the rows of a leaf weigh, from the size of its file. */
export const weightOfFile = (size: number): number =>
  Math.max(0, size - opening.length - closing.length + between.length)

/** The rows of a leaf, or what is wrong with its bytes. */
export const parseLeaf = (content: Uint8Array, keyOf: KeyOf): Either.Either<ReadonlyArray<Entry>, string> => {
  const text = decoder.decode(content)
  if (text === "[]\n") return Either.right([])
  if (!text.startsWith(opening) || !text.endsWith(closing))
    return Either.left("is not a list of rows in lines")
  return Either.flatMap(parseSpelled(encoder.encode(`{"rows":${text}}`)), ({ rows }) => {
    const lines = text.slice(opening.length, -closing.length).split(between)
    if (!Array.isArray(rows) || rows.length !== lines.length)
      return Either.left("has rows that are not lines")
    const entries: Array<Entry> = []
    let last: string | undefined
    for (const [at, row] of rows.entries()) {
      if (typeof row !== "object" || row === null || typeof row._id !== "string") {
        return Either.left(`has a row without an _id: ${lines[at]}`)
      }
      const key = keyOf(row)
      if (last !== undefined && last >= key) return Either.left(`has a row in the wrong place: ${lines[at]}`)
      entries.push(entry(key, row, lines[at]!))
      last = key
    }
    return Either.right(entries)
  })
}
