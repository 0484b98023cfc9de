import { Args, Options } from "@effect/cli"
import { Path } from "@effect/platform"
import { Effect, Option, Sink } from "effect"
import { NotFoundError, ValidationError } from "../domain/errors/StoreError.js"
import type { DestinationError } from "../store/transfer/Destination.js"
import type { DatabaseExcelOptions } from "../store/transfer/Export.js"
import type { StoreView } from "../store/View.js"
import { atOption, columnsOption, integerOption, rejectCombination, textOption } from "./CommandOptions.js"
import { CommandOutput } from "./CommandOutput.js"
import { formatOf } from "./FileFormat.js"
import { onInvalidOption, withInvalid } from "./InvalidDocuments.js"
import { withProgress } from "./Progress.js"
import { viewAt } from "./ReadCommands.js"
import { storeCommand } from "./StoreCommand.js"
import { escapeControls } from "./TerminalText.js"

export const exportCommand = storeCommand(
  "export",
  "Write a collection to a file or standard output; without a collection, the whole store to one workbook.",
  {
    collection: Args.text({ name: "collection" }).pipe(
      Args.withDescription("A collection; default: all of them, as xlsx"),
      Args.optional
    ),
    file: Args.text({ name: "file" }).pipe(
      Args.withDescription("The file, as with --to; default: standard output (with --format)"),
      Args.optional
    ),
    to: textOption("to", "The file, also of all collections; - for standard output"),
    format: Options.choice("format", ["xlsx", "csv", "ndjson", "json"]).pipe(
      Options.withDescription("Default: by the file's ending"),
      Options.optional
    ),
    columns: columnsOption("Write"),
    limit: integerOption("limit", "At most this many documents"),
    sheetName: textOption("sheet-name", "The worksheet's name"),
    guardFormulas: Options.boolean("guard-formulas").pipe(
      Options.withDescription("Put an apostrophe before CSV text that a spreadsheet would run")
    ),
    onInvalid: onInvalidOption,
    at: atOption("Export")
  },
  (input) =>
    Effect.gen(function* () {
      if (Option.isSome(input.file) && Option.isSome(input.to)) {
        return yield* new ValidationError({
          operation: "export",
          message: `two files are named, ${input.file.value} and ${input.to.value}`,
          hint: "give the file after the collection or with --to"
        })
      }
      const file = Option.getOrElse(
        Option.orElse(input.file, () => input.to),
        () => "-"
      )
      const view = yield* viewAt(input.at)
      const format = yield* formatOf("export", file, input.format, ["xlsx", "csv", "ndjson", "json"])
      const destination = file === "-" ? yield* standardOutput(format) : (yield* Path.Path).resolve(file)
      yield* rejectCombination("export", "--sheet-name", {
        [format]: Option.isSome(input.sheetName) && format !== "xlsx",
        "all collections": Option.isSome(input.sheetName) && Option.isNone(input.collection)
      })
      const options = {
        columns: Option.getOrUndefined(input.columns),
        limit: Option.getOrUndefined(input.limit)
      }
      if (Option.isNone(input.collection)) {
        if (format !== "xlsx") {
          return yield* new ValidationError({
            operation: "export",
            message: `${format} can contain only one collection`,
            hint: "name the collection, or use xlsx for all of them"
          })
        }
        yield* rejectCombination("export", "--columns", { "all collections": options.columns !== undefined })
        yield* withInvalid(input.onInvalid, (onInvalid) =>
          exportAll(view, destination, { limit: options.limit, onInvalid })
        )
        return
      }
      const name = input.collection.value
      const count = yield* view.collection(name).count
      if (count === 0) yield* requireCollection(view, name)
      const total = Math.min(count, options.limit ?? Number.POSITIVE_INFINITY)
      yield* withInvalid(input.onInvalid, (onInvalid) =>
        withProgress(`exporting ${name}`, total, (progress) => {
          const reporting = {
            ...options,
            onInvalid,
            onProgress: (state: { documents: number }) => progress.report(state.documents)
          }
          return format === "xlsx"
            ? Effect.asVoid(
                view.collection(name).exportExcel(destination, {
                  ...reporting,
                  sheetName: Option.getOrUndefined(input.sheetName)
                })
              )
            : Effect.asVoid(
                view.collection(name).exportText(destination, format, {
                  ...reporting,
                  guardFormulas: input.guardFormulas
                })
              )
        })
      )
    })
)

/** Fails for a collection that does not exist, before the file is replaced. */
const requireCollection = (view: StoreView, name: string) =>
  Effect.flatMap(view.collections, (present) =>
    present.includes(name)
      ? Effect.void
      : Effect.fail(
          new NotFoundError({
            operation: "export",
            collection: name,
            message: `there is no collection ${name}`,
            hint: present.length === 0 ? "the store is empty" : `there are ${present.join(", ")}`
          })
        )
  )

const exportAll = (
  view: StoreView,
  destination: string | Sink.Sink<void, Uint8Array, never, DestinationError>,
  { limit, onInvalid }: Pick<DatabaseExcelOptions, "limit" | "onInvalid">
) =>
  Effect.gen(function* () {
    const { showsProgress } = yield* CommandOutput
    const collections = yield* view.collections
    const counts = showsProgress
      ? yield* Effect.forEach(collections, (name) => view.collection(name).count)
      : undefined
    const total = counts?.reduce((sum, count) => sum + Math.min(count, limit ?? count), 0)
    const done = new Map<string, number>()
    yield* withProgress("exporting", total, (progress) =>
      view.exportExcel(destination, {
        limit,
        onInvalid,
        onProgress: ({ collection, documents }) => {
          done.set(collection, documents)
          return progress.report([...done.values()].reduce((sum, count) => sum + count, 0))
        }
      })
    )
  })

/** Standard output as a sink. A terminal receives only text, without control characters. */
const standardOutput = (format: string) =>
  Effect.flatMap(CommandOutput, (screen) => {
    if (!screen.isTerminal) return Effect.succeed(Sink.forEach(screen.writeBytes))
    if (format === "xlsx") {
      return Effect.fail(
        new ValidationError({
          operation: "export",
          message: "a workbook cannot be shown on a terminal",
          hint: "name a file, or redirect standard output to one"
        })
      )
    }
    const decoder = new TextDecoder()
    const encoder = new TextEncoder()
    return Effect.succeed(
      Sink.forEach((bytes: Uint8Array) =>
        screen.writeBytes(
          encoder.encode(escapeControls(decoder.decode(bytes, { stream: true }).replaceAll("\r", "")))
        )
      )
    )
  })
