import { Args, Options } from "@effect/cli"
import { Effect, Option, Stream } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"
import { Store } from "../store/Store.js"
import { fromCsv } from "../store/transfer/FromCsv.js"
import { fromJson, fromNdjson } from "../store/transfer/FromJson.js"
import type { ImportReport, ImportRow } from "../store/transfer/Import.js"
import {
  collectionArgument,
  dryRunOption,
  integerOptionWithDefault,
  messageOption,
  textOption
} from "./CommandOptions.js"
import { CommandOutput, jsonOption, print, printLine } from "./CommandOutput.js"
import { formatOf } from "./FileFormat.js"
import { inputFile } from "./InputFile.js"
import { withProgress } from "./Progress.js"
import { standardInput } from "./StandardInput.js"
import { storeCommand } from "./StoreCommand.js"

export const importCommand = storeCommand(
  "import",
  "Import records from a CSV, NDJSON or JSON file, a commit per chunk; --import-id resumes an interrupted import.",
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
      Options.withDescription("How CSV cells are read: all as text, or numbers and booleans as JSON"),
      Options.withDefault("text" as const)
    ),
    delimiter: Options.text("delimiter").pipe(
      Options.withDescription("Between CSV cells; \\t is a tab"),
      Options.withDefault(",")
    ),
    idField: textOption("id-field", "The field that holds the document's id; default: _id"),
    chunkSize: integerOptionWithDefault("chunk-size", "Documents per commit", 100),
    validate: Options.choice("validate", ["each", "first"]).pipe(
      Options.withDescription(
        "Check all rows before the first commit (first), or each chunk before its commit (each)"
      ),
      Options.withDefault("each" as const)
    ),
    importId: textOption("import-id", "Resume an import that was interrupted"),
    message: messageOption("The commits' message"),
    dryRun: dryRunOption("Print the action for every row and write nothing"),
    json: jsonOption
  },
  (input) =>
    Effect.gen(function* () {
      const store = yield* Store
      const screen = yield* CommandOutput
      const format = yield* formatOf("import", input.file, input.format, ["csv", "ndjson", "json"])
      const collection = store.collection(input.collection)
      const delimiter = input.delimiter.replaceAll("\\t", "\t")
      const idField = Option.getOrUndefined(input.idField)
      const plain = input.json || !screen.isTerminal
      const { bytes, share } = yield* source(input.file, input.validate === "first" && !input.dryRun ? 2 : 1)
      const records =
        format === "csv"
          ? fromCsv(bytes, {
              cells: input.cells,
              delimiter,
              keepSpelling: [idField ?? "_id"]
            })
          : format === "json"
            ? fromJson(bytes)
            : fromNdjson(bytes)
      let state: ImportReport | undefined
      let refused: ImportRow | undefined
      const resumeOption = () => `--import-id ${state?.importId}`
      const report = yield* withProgress(`importing ${input.collection}`, undefined, (progress) =>
        collection.importRecords(records, {
          idField,
          chunkSize: input.chunkSize,
          dryRun: input.dryRun,
          validate: input.validate,
          importId: Option.getOrUndefined(input.importId),
          message: Option.getOrUndefined(input.message),
          onProgress: (now) =>
            Effect.gen(function* () {
              if (state === undefined && !input.dryRun) {
                state = now
                yield* screen.writeMessage(
                  `If this import is interrupted, resume it with ${resumeOption()}\n`
                )
              }
              state = now
              yield* progress.report(now.records, share())
            }),
          onRow: input.dryRun
            ? (row) => {
                if (row.action === "refuse") refused ??= row
                return printLine(plain ? JSON.stringify(row) : rowText(row))
              }
            : undefined
        })
      ).pipe(
        Effect.onInterrupt(() =>
          state === undefined || input.dryRun
            ? Effect.void
            : screen.writeMessage(
                `Interrupted: at least ${state.records} records are committed. The same command with ${resumeOption()} resumes it.\n`
              )
        )
      )
      if (input.dryRun && plain) yield* printLine(JSON.stringify(report))
      else
        yield* print(input.json, report, () =>
          [
            `${report.inserted} inserted, ${report.replaced} replaced, ${report.unchanged} unchanged, ${report.refused} refused` +
              `${input.dryRun ? " (nothing was written)" : `, in ${report.commits.length} commits`}.`,
            ...(input.dryRun ? [] : [`import id: ${report.importId}`])
          ].join("\n")
        )
      if (refused !== undefined) {
        return yield* new ValidationError({
          operation: "import",
          id: refused.id,
          message: `row ${refused.row} cannot be imported: ${refused.reason}`,
          hint: `the import would end there; ${report.refused} of ${report.records} records cannot be imported`
        })
      }
    }),
  ({ dryRun }) => (dryRun ? "empty" : "create")
)

/** A file up to this size is read long before its records are committed, so the share that was read is not shown. */
const smallFile = 1_000_000

/** The bytes of a file or of standard input, and the share that was read, if the size is known. */
const source = (file: string, times: number) =>
  Effect.gen(function* () {
    if (file === "-") return { bytes: yield* standardInput, share: () => undefined }
    const input = yield* inputFile("import", file)
    const total = input.size * times
    let read = 0
    const bytes = Stream.tap(input.bytes, (chunk) =>
      Effect.sync(() => {
        read += chunk.length
      })
    )
    return { bytes, share: () => (total > smallFile ? Math.min(1, read / total) : undefined) }
  })

const rowText = (row: ImportRow) =>
  `${row.row}\t${row.action}\t${row.id ?? ""}\t${row.reason ?? ""}`.trimEnd()
