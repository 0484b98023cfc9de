import { Args, Options } from "@effect/cli"
import { Chunk, Effect, Option, Stream } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"
import { Store } from "../store/Store.js"
import type { StoreService } from "../store/StoreService.js"
import { parseExactly } from "../store/transfer/ExactJson.js"
import { normaliseRecord } from "../store/transfer/Normalise.js"
import { utf8Text } from "../store/transfer/Utf8Text.js"
import { collectionArgument, idArgument, rejectCombination, textOption } from "./CommandOptions.js"
import { print } from "./CommandOutput.js"
import {
  conditionOptions,
  expectedOptions,
  previewChanges,
  writeIfSha,
  writeOptions
} from "./ConditionalWrite.js"
import { inputFile } from "./InputFile.js"
import { differenceLines, documentOf } from "./ReadCommands.js"
import { standardInput } from "./StandardInput.js"
import { storeCommand } from "./StoreCommand.js"

/** The options of a command with a document as input. */
export const contentOptions = {
  collection: collectionArgument,
  id: idArgument,
  file: Args.text({ name: "file" }).pipe(
    Args.withDescription("A JSON file; - or nothing: standard input"),
    Args.optional
  ),
  data: textOption("data", "The document in JSON"),
  merge: Options.boolean("merge").pipe(
    Options.withDescription("Merge into the stored document at the top level")
  )
}

export const put = storeCommand(
  "put",
  "Write a document from --data, a file, or standard input: replace the stored document, or merge into it.",
  {
    ...contentOptions,
    insert: Options.boolean("insert").pipe(
      Options.withDescription("Refuse to write over an existing document")
    ),
    ...expectedOptions,
    ...writeOptions
  },
  ({ collection: name, data, dryRun, expectedRev, expectedSha, file, id, insert, json, merge, message }) =>
    Effect.gen(function* () {
      if (Option.isSome(expectedSha)) {
        yield* rejectCombination("put", "--expected-sha", {
          "--merge": merge,
          "--insert": insert,
          "--expected-rev": Option.isSome(expectedRev)
        })
      }
      if (insert)
        yield* rejectCombination("put", "--insert", { "--expected-rev": Option.isSome(expectedRev) })
      const store = yield* Store
      const document = yield* documentIn(yield* textOf(data, file))
      const options = conditionOptions(message, expectedRev)
      const write = (into: StoreService) => {
        const collection = into.collection(name)
        if (Option.isSome(expectedSha)) {
          const place = { collection: name, id, sha: expectedSha.value }
          return Effect.asVoid(
            writeIfSha(into, place, options.message ?? `replace ${name}/${id}`, (batch) =>
              batch.put(name, id, document)
            )
          )
        }
        if (insert) return Effect.asVoid(collection.insert(document, { message: options.message, id }))
        if (merge) return Effect.asVoid(collection.upsert(id, document, options))
        return collection.replace(id, document, options).pipe(
          Effect.asVoid,
          Effect.catchTag("NotFoundError", (missing) =>
            options.expectedRev === undefined
              ? Effect.asVoid(collection.insert(document, { message: options.message, id }))
              : Effect.fail(missing)
          )
        )
      }
      if (dryRun) {
        const found = yield* previewChanges(name, id, write)
        return yield* print(json, found, () => differenceLines(found))
      }
      yield* write(store)
      const stored = yield* documentOf(store, name, id)
      yield* print(json, stored, () => `${name}/${id} is at revision ${stored._rev}.`)
    }),
  ({ dryRun }) => (dryRun ? "empty" : "create")
)

export const textOf = (data: Option.Option<string>, file: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isSome(data)) {
      yield* rejectCombination("put", "--data", { "a file": Option.isSome(file) })
      return data.value
    }
    const bytes =
      Option.isSome(file) && file.value !== "-"
        ? (yield* inputFile("put", file.value)).bytes
        : yield* standardInput
    return Chunk.join(yield* Stream.runCollect(utf8Text(bytes, "put")), "")
  })

export const documentIn = (text: string, operation = "put", what = "the document") =>
  Effect.try({
    try: () => {
      if (text.trim() === "") {
        throw new ValidationError({
          operation,
          message: `${what} is empty`,
          hint: "write JSON into --data, a file, or standard input"
        })
      }
      const value = parseExactly(text)
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw new ValidationError({
          operation,
          message: `${what} is not a JSON object`,
          hint: 'write its fields in braces, such as {"name": "Tea"}'
        })
      }
      return normaliseRecord(value)
    },
    catch: (cause) =>
      cause instanceof ValidationError
        ? cause
        : new ValidationError({
            operation,
            message: `${what} is not JSON: ${cause instanceof Error ? cause.message : cause}`,
            hint: "quote it for your shell, or pass it on standard input"
          })
  })
