import * as Sink from "effect/Sink"
import { optional, text, texts, valueKind } from "../../domain/options/Options.js"

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** The destination argument of an export, with its name in error messages. */
export const destination = [
  "the destination",
  valueKind<any>(
    "a file's path or a WritableStream",
    (value) =>
      typeof value === "string" ||
      (typeof WritableStream !== "undefined" && value instanceof WritableStream) ||
      (isObject(value) && Sink.SinkTypeId in value),
    { hint: "convert a Node stream with Writable.toWeb(stream); Writable is in node:stream" }
  )
] as const

/** The fields of `SheetOptions`. */
export const sheetFields = { columns: optional(texts), sheetName: optional(text) }
