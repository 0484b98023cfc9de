import * as Either from "effect/Either"
import { encodeInline, type JsonProblem, maxDepth } from "../../../domain/json/CanonicalJson.js"
import { isDeeperThan } from "../../../domain/json/JsonCopy.js"
import { maxDocumentBytes } from "../../../domain/json/JsonText.js"
import { type LosslessObject, mayNeedLossless, parseLossless } from "../../../domain/json/LosslessJson.js"
import { Separator } from "./Separator.js"

/** A row of a tree: fields of a document, with its `_id`. */
export type Row = LosslessObject

/** The function that computes the sort key of a row. Keys are unique in a tree. */
export type KeyOf = (row: Row) => string

/** A row as a line of a leaf. Row, key and separator are computed on demand. */
export class Entry {
  #key: string | undefined
  #separator: Separator | undefined

  constructor(
    readonly line: string,
    /** The bytes of the line and of the separator after it. */
    readonly weight: number,
    private readonly keyOf: KeyOf
  ) {}

  /** The row, with numbers as they are spelled. It is not kept, because caches contain many entries. */
  get row(): Row {
    return mayNeedLossless(this.line)
      ? Either.getOrThrow(parseLossless(encoder.encode(this.line)))
      : (JSON.parse(this.line) as Row)
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

/** Compares entries by key. */
export const compareEntries = (a: Entry, b: Entry): number => (a.key < b.key ? -1 : 1)

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const between = ",\n"
const opening = "[\n"
const closing = "\n]\n"

const nonAscii = /[^\x00-\x7f]/

const bytesIn = (line: string): number => (nonAscii.test(line) ? encoder.encode(line).length : line.length)

/** The entry of a line that was printed before. */
export const entryOfLine = (line: string, keyOf: KeyOf): Entry =>
  new Entry(line, bytesIn(line) + between.length, keyOf)

/** The entry of a row. */
export const entryOf = (row: Row, keyOf: KeyOf): Either.Either<Entry, JsonProblem> =>
  Either.map(encodeInline(row), (line) => entryOfLine(line, keyOf))

/** The bytes of a leaf: a JSON list with one row a line. */
export const printLeaf = (entries: ReadonlyArray<Entry>): Uint8Array =>
  encoder.encode(
    entries.length === 0 ? "[]\n" : opening + entries.map(({ line }) => line).join(between) + closing
  )

/** The weight of a leaf's rows, computed from the size of its file. */
export const weightOfFile = (size: number): number =>
  Math.max(0, size - opening.length - closing.length + between.length)

/** Whether a line is a row without numbers that JavaScript cannot represent. */
const isRow = (line: string, isSpelled: boolean): boolean => {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return false
  }
  if (typeof value !== "object" || value === null || isDeeperThan(value, maxDepth)) return false
  const row = value as Row
  const isHeld = isSpelled && mayNeedLossless(line) ? Either.isRight(encodeInline(row)) : true
  return typeof row["_id"] === "string" && isHeld
}

const notRows = "has lines that are not rows"

/** Parses a leaf, or returns what is wrong with it. The order of the rows is not checked. */
export const parseLeaf = (content: Uint8Array, keyOf: KeyOf): Either.Either<ReadonlyArray<Entry>, string> => {
  if (content.length > maxDocumentBytes) return Either.left(notRows)
  const text = decoder.decode(content)
  if (text === "[]\n") return Either.right([])
  if (!text.startsWith(opening) || !text.endsWith(closing))
    return Either.left("is not a list of rows in lines")
  // Most leaves are ASCII, whose lines need not be measured one by one.
  const bytes = content.length === text.length ? (line: string) => line.length : bytesIn
  const isSpelled = mayNeedLossless(text)
  const entries: Array<Entry> = []
  for (const line of text.slice(opening.length, -closing.length).split(between)) {
    if (!isRow(line, isSpelled)) return Either.left(notRows)
    entries.push(new Entry(line, bytes(line) + between.length, keyOf))
  }
  return Either.right(entries)
}

/** The index of the first row with this key or a greater one. */
export const lowerBound = (entries: ReadonlyArray<Entry>, key: string): number => {
  let [low, high] = [0, entries.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (entries[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}
