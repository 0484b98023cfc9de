import * as Either from "effect/Either"
import { encodeInline, type JsonProblem, maxDepth } from "../../../domain/CanonicalJson.js"
import { isDeeperThan } from "../../../domain/JsonCopy.js"
import { mayBeSpelled, parseSpelled, type SpelledObject } from "../../../domain/SpelledJson.js"
import { Separator } from "./Separator.js"

/** A row of a tree: fields of a document, with its `_id`. */
export type Row = SpelledObject

/** The key of a row, by which rows are sorted. No two rows of a tree have one key. */
export type KeyOf = (row: Row) => string

/** A row with its key, and its line in a leaf. What few readers need is found out when it is asked for. */
export class Entry {
  #row: Row | undefined
  #key: string | undefined
  #separator: Separator | undefined

  constructor(
    readonly line: string,
    /** The bytes of the line, with what stands between it and the next one. */
    readonly weight: number,
    private readonly keyOf: KeyOf,
    /** The row as it was given, or as JavaScript reads it. */
    private readonly read: Row
  ) {}

  /** The row, with its numbers as they are spelled. */
  get row(): Row {
    this.#row ??= mayBeSpelled(this.line)
      ? Either.getOrThrow(parseSpelled(encoder.encode(this.line)))
      : this.read
    return this.#row
  }

  get key(): string {
    this.#key ??= this.keyOf(this.row)
    return this.#key
  }

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

/** A row as it will lie in a leaf. */
export const entryOf = (row: Row, keyOf: KeyOf): Either.Either<Entry, JsonProblem> =>
  // Within a list within an object, as it is read again: no row may be too deep for that.
  Either.map(encodeInline([[row]]), (text) => {
    const line = text.slice(2, -2)
    return new Entry(line, bytesIn(line) + between.length, keyOf, row)
  })

/** The bytes of a leaf: a JSON list with one row in a line. */
export const printLeaf = (entries: ReadonlyArray<Entry>): Uint8Array =>
  encoder.encode(
    entries.length === 0 ? "[]\n" : opening + entries.map(({ line }) => line).join(between) + closing
  )

/** What the rows of a leaf weigh, from the size of its file. */
export const weightOfFile = (size: number): number =>
  Math.max(0, size - opening.length - closing.length + between.length)

const isRow = (value: unknown): boolean =>
  typeof value === "object" && value !== null && typeof (value as { readonly _id?: unknown })._id === "string"

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The rows of a leaf, or what is wrong with its bytes. Whether they are sorted is not looked at. */
export const parseLeaf = (content: Uint8Array, keyOf: KeyOf): Either.Either<ReadonlyArray<Entry>, string> => {
  const text = decoder.decode(content)
  if (text === "[]\n") return Either.right([])
  const rows = parsed(text)
  if (!Array.isArray(rows)) return Either.left("is not a JSON list")
  if (!text.startsWith(opening) || !text.endsWith(closing))
    return Either.left("is not a list of rows in lines")
  const lines = text.slice(opening.length, -closing.length).split(between)
  if (rows.length !== lines.length || !rows.every(isRow)) return Either.left("has lines that are not rows")
  if (isDeeperThan(rows, maxDepth)) return Either.left(`is nested deeper than ${maxDepth} levels`)
  // Most leaves are ASCII: then the lines need not be measured one by one.
  const bytes = content.length === text.length ? (line: string) => line.length : bytesIn
  return Either.right(
    lines.map((line, at) => new Entry(line, bytes(line) + between.length, keyOf, rows[at] as Row))
  )
}

/** The place of the first row with this key or a greater one. */
export const placeIn = (entries: ReadonlyArray<Entry>, key: string): number => {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}
