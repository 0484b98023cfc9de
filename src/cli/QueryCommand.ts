import { Options } from "@effect/cli"
import { Chunk, Effect, Option, Stream } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"
import type { Query } from "../domain/query/Query.js"
import { parseWhere } from "../domain/query/WhereText.js"
import { columnsOf, parseValue } from "../store/browse/index.js"
import { type VerbatimDocument, verbatimDocuments } from "../store/browse/VerbatimDocuments.js"
import type { CollectionReader, QueryExplanation, ReadManyOptions } from "../store/Collection.js"
import { atOption, collectionArgument, columnsOption, limitOption, textOption } from "./CommandOptions.js"
import { CommandOutput, jsonOption, print, table } from "./CommandOutput.js"
import { fieldOrder } from "./FieldOrder.js"
import { onInvalidOption, withInvalid } from "./InvalidDocuments.js"
import { withProgress } from "./Progress.js"
import { viewAt } from "./ReadCommands.js"
import { storeCommand } from "./StoreCommand.js"

export const query = storeCommand(
  "query",
  "Find documents by a condition or by the value of a field, or list all; uses indexes if possible.",
  {
    collection: collectionArgument,
    where: textOption(
      "where",
      "A condition, such as 'price>=10 and city=London or not (tags=x)'; also != < > ^= (starts with), in (a, b), exists, missing"
    ),
    order: textOption("order", "Fields to sort by, such as 'price desc, name'"),
    cursor: textOption("cursor", "Print the page after this cursor, which the previous page printed"),
    explain: Options.boolean("explain").pipe(
      Options.withDescription("Print the plan of the query and what it reads, instead of documents")
    ),
    field: textOption("field", "A field's name"),
    value: textOption("value", "Its value in JSON; other input is text"),
    after: textOption("after", "Only ids after this one"),
    limit: limitOption(50),
    columns: columnsOption("Show"),
    onInvalid: onInvalidOption,
    at: atOption("Look at"),
    json: jsonOption
  },
  ({ after, at, collection, columns, cursor, explain, field, json, limit, onInvalid, order, value, where }) =>
    Effect.gen(function* () {
      const asks = explain || [where, order, cursor].some(Option.isSome)
      if (asks && [field, value, after].some(Option.isSome)) {
        return yield* new ValidationError({
          operation: "query",
          message:
            "--field, --value and --after cannot be used with --where, --order, --cursor and --explain",
          hint: "write the value into --where, such as --where city=London, and continue with --cursor"
        })
      }
      if (Option.isSome(value) && Option.isNone(field)) {
        return yield* new ValidationError({
          operation: "query",
          message: "--value needs a field",
          hint: "name it with --field"
        })
      }
      if (Option.isSome(field) && Option.isNone(value)) {
        return yield* new ValidationError({
          operation: "query",
          message: `--field ${field.value} needs the value to look for`,
          hint: "name it with --value; --value null finds the documents whose field is null"
        })
      }
      const reader = (yield* viewAt(at)).collection(collection, verbatimDocuments)
      const asked = asks ? yield* queryOf({ cursor, limit, order, where }) : undefined
      if (explain) {
        const how = yield* reader.explainQuery(asked ?? {})
        return yield* print(json, how, () => explanationLines(how))
      }
      const { writeMessage } = yield* CommandOutput
      const documents = yield* withInvalid(onInvalid, (onInvalid) =>
        Effect.gen(function* () {
          const options = { limit, after: Option.getOrUndefined(after), onInvalid }
          if (asked !== undefined) {
            const page = yield* reader.query({ ...asked, onInvalid })
            if (page.cursor !== null) yield* writeMessage(`more: --cursor ${page.cursor}\n`)
            return page.documents
          }
          return Option.isSome(field)
            ? yield* reader.findBy(field.value, parseValue(Option.getOrThrow(value)), options)
            : yield* everyDocument(reader, options)
        })
      )
      const shown = Option.getOrElse(columns, () => columnsOf(documents))
      yield* print(
        json,
        Option.isSome(columns) ? documents.map((document) => chosen(document, shown)) : documents,
        (width) => (documents.length === 0 ? "No documents." : documentTable(documents, shown, width))
      )
    })
)

/** Makes the query from the options. */
const queryOf = ({
  cursor,
  limit,
  order,
  where
}: {
  readonly cursor: Option.Option<string>
  readonly limit: number
  readonly order: Option.Option<string>
  readonly where: Option.Option<string>
}): Effect.Effect<Query, ValidationError> =>
  Effect.gen(function* () {
    return {
      limit,
      where: Option.isSome(where)
        ? yield* Effect.try({
            try: () => parseWhere(where.value),
            catch: (cause) =>
              new ValidationError({
                operation: "query",
                message: cause instanceof Error ? cause.message : String(cause),
                hint: "a condition is a field, an operator and a value: price>=10 and city='New York'"
              })
          })
        : undefined,
      orderBy: Option.isSome(order) ? yield* fieldOrder("query", "--order", order.value) : undefined,
      cursor: Option.getOrUndefined(cursor)
    }
  })

const explanationLines = (how: QueryExplanation): string =>
  [
    `source     ${how.source}${how.index === undefined ? "" : ` (${how.index})`}`,
    `reason     ${how.reason}`,
    `order      ${how.ordered ? "as it is read" : "sorted afterwards"}`,
    `estimated  ${how.estimated.entries} entries, ${how.estimated.documents} documents`,
    `read       ${how.read.entries} entries, ${how.read.documents} documents`
  ].join("\n")

/** All documents up to the limit. Shows the progress of a long read. */
const everyDocument = (
  reader: CollectionReader<VerbatimDocument>,
  options: ReadManyOptions & { readonly limit: number }
) =>
  Effect.gen(function* () {
    const { showsProgress } = yield* CommandOutput
    const total =
      showsProgress && options.limit > 500 ? Math.min(options.limit, yield* reader.count) : undefined
    let done = 0
    return yield* withProgress(`reading ${reader.name}`, total, ({ report }) =>
      reader.all(options).pipe(
        Stream.chunks,
        Stream.tap((chunk) => {
          done += chunk.length
          return total === undefined ? Effect.void : report(done)
        }),
        Stream.flattenChunks,
        Stream.runCollect
      )
    ).pipe(Effect.map(Chunk.toReadonlyArray))
  })

const chosen = (document: VerbatimDocument, columns: ReadonlyArray<string>) =>
  Object.fromEntries(columns.map((column) => [column, field(document, column) ?? null]))

const field = (document: VerbatimDocument, column: string) =>
  Object.hasOwn(document, column) ? document[column] : undefined

const documentTable = (
  documents: ReadonlyArray<VerbatimDocument>,
  shown: ReadonlyArray<string>,
  width: number
) =>
  `${table(
    shown,
    documents.map((document) => shown.map((column) => field(document, column))),
    width
  )}\n${documents.length} document${documents.length === 1 ? "" : "s"}`
