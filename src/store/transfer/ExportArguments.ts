import * as Sink from "effect/Sink"
import { optional, text, texts, valueKind } from "../../domain/options/Options.js"

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Where an export goes, as an argument. */
export const destination = [
  "the destination",
  valueKind<any>(
    "a file's path or a WritableStream",
    (value) =>
      typeof value === "string" ||
      (typeof WritableStream !== "undefined" && value instanceof WritableStream) ||
      (isObject(value) && Sink.SinkTypeId in value),
    { hint: "a stream of Node's becomes one by Writable.toWeb(stream), with Writable from node:stream" }
  )
] as const

/** The options of one sheet, as they are read. */
export const sheetFields = { columns: optional(texts), sheetName: optional(text) }
