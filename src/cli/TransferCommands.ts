import { Args, Options } from "@effect/cli"
import { FileSystem, Path } from "@effect/platform"
import { Console, Effect, Option, Sink, Stream } from "effect"
import { ValidationError } from "../domain/StoreError.js"
import { Store, type StoreView } from "../store/Store.js"
import { DestinationError } from "../store/transfer/Destination.js"
import { fromCsv } from "../store/transfer/FromCsv.js"
import { fromJson, fromNdjson } from "../store/transfer/FromJson.js"
import type { ImportReport, ImportRow } from "../store/transfer/Import.js"
import { sourceError } from "../store/transfer/Records.js"
import { standardInput } from "./Input.js"
import { jsonOption, print, Screen } from "./Output.js"
import { withProgress } from "./Progress.js"
import { collectionArgument, viewAt } from "./ReadCommands.js"
import { storeCommand } from "./StoreCommand.js"

const formatOf = (
  operation: string,
  name: string,
  given: Option.Option<string>,
  known: ReadonlyArray<string>
) => {
  const format = Option.getOrElse(given, () => /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "")
  const plain = format === "jsonl" ? "ndjson" : format
  return known.includes(plain)
    ? Effect.succeed(plain)
    : Effect.fail(
        new ValidationError({
          operation,
          message: format === "" ? "the format is not known" : `${format} is not a format of ${operation}`,
          hint: `use --format ${known.join(" | ")}, or such an ending of the file's name`
        })
      )
}

export const importCommand = storeCommand(
  "import",
  "Import records from a CSV, NDJSON or JSON file, a commit per chunk; goes on with its --import-id after an interruption.",
  {
    collection: collectionArgument,
    file: Args.text({ name: "file" }).pipe(
      Args.withDescription("A file, or - for standard input (with --format)")
    ),
    format: Options.choice("format", ["csv", "ndjson", "json"]).pipe(
      Options.withDescription("Default: by the file's ending"),
      Options.optional
    ),
    cells: Options.choice("cells", ["text", "json"]).pipe(
      Options.withDescription("How CSV cells are read: as they stand, or numbers and truth values as such"),
      Options.withDefault("text" as const)
    ),
    delimiter: Options.text("delimiter").pipe(
      Options.withDescription("Between CSV cells"),
      Options.withDefault(",")
    ),
    idField: Options.text("id-field").pipe(
      Options.withDescription("The field that holds the document's id"),
      Options.withDefault("_id")
    ),
    chunkSize: Options.integer("chunk-size").pipe(
      Options.withDescription("Documents per commit"),
      Options.withDefault(100)
    ),
    validate: Options.choice("validate", ["each", "first"]).pipe(
      Options.withDescription("Check all rows before the first commit, or each chunk before its own"),
      Options.withDefault("each" as const)
    ),
    importId: Options.text("import-id").pipe(
      Options.withDescription("Go on with an import that was interrupted"),
      Options.optional
    ),
    message: Options.text("message").pipe(
      Options.withAlias("m"),
      Options.withDescription("The commits' message"),
      Options.optional
    ),
    dryRun: Options.boolean("dry-run").pipe(
      Options.withDescription("Say of every row what would be done and write nothing")
    ),
    json: jsonOption
  },
  (input) =>
    Effect.gen(function* () {
      const store = yield* Store
      const screen = yield* Screen
      const format = yield* formatOf("import", input.file, input.format, ["csv", "ndjson", "json"])
      const collection = store.collection(input.collection)
      const plain = input.json || !screen.results
      const { bytes, share } = yield* source(input.file, input.validate === "first" && !input.dryRun ? 2 : 1)
      const records =
        format === "csv"
          ? fromCsv(bytes, { cells: input.cells, delimiter: input.delimiter })
          : format === "json"
            ? fromJson(bytes)
            : fromNdjson(bytes)
      let state: ImportReport | undefined
      const again = () => `--import-id ${state?.importId}`
      const report = yield* withProgress(`importing ${input.collection}`, undefined, (progress) =>
        collection.importRecords(records, {
          idField: input.idField,
          chunkSize: input.chunkSize,
          dryRun: input.dryRun,
          validate: input.validate,
          importId: Option.getOrUndefined(input.importId),
          message: Option.getOrUndefined(input.message),
          onProgress: (now) =>
            Effect.gen(function* () {
              if (state === undefined && !input.dryRun) {
                state = now
                yield* screen.message(`If this import is interrupted, it goes on with ${again()}\n`)
              }
              state = now
              yield* progress.tell(now.records, share())
            }),
          onRow: input.dryRun ? (row) => Console.log(plain ? JSON.stringify(row) : rowText(row)) : undefined
        })
      ).pipe(
        Effect.onInterrupt(() =>
          state === undefined || input.dryRun
            ? Effect.void
            : screen.message(
                `Interrupted: at least ${state.records} records are committed. The same command with ${again()} goes on.\n`
              )
        )
      )
      if (input.dryRun && plain) return yield* Console.log(JSON.stringify(report))
      yield* print(input.json, report, () =>
        [
          `${report.inserted} inserted, ${report.replaced} replaced, ${report.unchanged} unchanged, ${report.refused} refused` +
            `${input.dryRun ? " (nothing was written)" : `, in ${report.commits.length} commits`}.`,
          ...(input.dryRun ? [] : [`import id: ${report.importId}`])
        ].join("\n")
      )
    })
)

/** A file is read ahead of what is committed, so that only of bigger ones the share that was read says how far it is. */
const telling = 1_000_000

/** The bytes of a file or of standard input, and which share of them was read where their number is known. */
const source = (file: string, times: number) =>
  Effect.gen(function* () {
    if (file === "-") return { bytes: yield* standardInput, share: () => undefined }
    const files = yield* FileSystem.FileSystem
    const size = yield* Effect.option(Effect.map(files.stat(file), (info) => Number(info.size) * times))
    let read = 0
    const bytes = files.stream(file).pipe(
      Stream.mapError(sourceError("import")),
      Stream.tap((chunk) =>
        Effect.sync(() => {
          read += chunk.length
        })
      )
    )
    const known = Option.getOrElse(size, () => 0)
    return { bytes, share: () => (known > telling ? Math.min(1, read / known) : undefined) }
  })

const rowText = (row: ImportRow) =>
  `${row.row}\t${row.action}\t${row.id ?? ""}\t${row.reason ?? ""}`.trimEnd()

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
    to: Options.text("to").pipe(
      Options.withDescription("The file, also of all collections; - for standard output"),
      Options.optional
    ),
    format: Options.choice("format", ["xlsx", "csv", "ndjson", "json"]).pipe(
      Options.withDescription("Default: by the file's ending"),
      Options.optional
    ),
    columns: Options.text("columns").pipe(
      Options.withDescription("Write these fields, separated by commas"),
      Options.map((text) => text.split(",").map((column) => column.trim())),
      Options.optional
    ),
    limit: Options.integer("limit").pipe(
      Options.withDescription("At most so many documents"),
      Options.optional
    ),
    sheetName: Options.text("sheet-name").pipe(
      Options.withDescription("The worksheet's name"),
      Options.optional
    ),
    guardFormulas: Options.boolean("guard-formulas").pipe(
      Options.withDescription("Put an apostrophe before CSV text that a spreadsheet would run")
    ),
    at: Options.text("at").pipe(
      Options.withDescription("Export this commit, tag or branch instead of the head"),
      Options.optional
    )
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
      const destination = file === "-" ? standardOutput : (yield* Path.Path).resolve(file)
      const options = {
        columns: Option.getOrUndefined(input.columns),
        limit: Option.getOrUndefined(input.limit),
        sheetName: Option.getOrUndefined(input.sheetName)
      }
      if (Option.isNone(input.collection)) {
        if (format !== "xlsx") {
          return yield* new ValidationError({
            operation: "export",
            message: `${format} holds one collection`,
            hint: "name the collection, or use xlsx for all of them"
          })
        }
        yield* exportAll(view, destination, options.limit)
        return
      }
      const name = input.collection.value
      const total = Math.min(yield* view.collection(name).count, options.limit ?? Number.POSITIVE_INFINITY)
      yield* withProgress(`exporting ${name}`, total, (progress) => {
        const told = {
          ...options,
          onProgress: (state: { documents: number }) => progress.tell(state.documents)
        }
        return format === "xlsx"
          ? Effect.asVoid(view.collection(name).exportExcel(destination, told))
          : Effect.asVoid(
              view.collection(name).exportText(destination, format as "csv", {
                ...told,
                guardFormulas: input.guardFormulas
              })
            )
      })
    })
)

const exportAll = (view: StoreView, destination: string | typeof standardOutput, limit: number | undefined) =>
  Effect.gen(function* () {
    const { messages } = yield* Screen
    const collections = yield* view.collections
    const counts = messages
      ? yield* Effect.forEach(collections, (name) => view.collection(name).count)
      : undefined
    const total = counts?.reduce((sum, count) => sum + Math.min(count, limit ?? count), 0)
    const done = new Map<string, number>()
    yield* withProgress("exporting", total, (progress) =>
      view.exportExcel(destination, {
        limit,
        onProgress: ({ collection, documents }) => {
          done.set(collection, documents)
          return progress.tell([...done.values()].reduce((sum, count) => sum + count, 0))
        }
      })
    )
  })

/** Standard output as a sink that waits while the reader is slow. */
const standardOutput = Sink.forEach((bytes: Uint8Array) =>
  Effect.async<void, DestinationError>((resume) => {
    process.stdout.write(bytes, (error) =>
      resume(
        error === undefined || error === null
          ? Effect.void
          : new DestinationError({
              operation: "export",
              message: `cannot write to standard output: ${error.message}`,
              cause: error
            })
      )
    )
  })
)
