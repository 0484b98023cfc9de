import { Args, Options } from "@effect/cli"
import { Chunk, Effect, Option, Stream } from "effect"
import type { JsonObject, StoredDocument } from "../domain/Document.js"
import { NotFoundError, ValidationError } from "../domain/StoreError.js"
import { columnsOf, type Difference, differences, parseValue, printPath } from "../store/browse/index.js"
import type { CollectionReader } from "../store/Collection.js"
import { Store } from "../store/Store.js"
import type { StoredIndex, StoreView } from "../store/View.js"
import { atOption, collectionArgument, columnsOption, idArgument, textOption } from "./CommandOptions.js"
import { jsonOption, print, Screen, table } from "./Output.js"
import { withProgress } from "./Progress.js"
import { storeCommand } from "./StoreCommand.js"

const limitOption = (fallback: number) =>
  Options.integer("limit").pipe(Options.withDescription("At most this many"), Options.withDefault(fallback))

/** The store as it is, or as it was. */
export const viewAt = (at: Option.Option<string>) =>
  Effect.flatMap(Store, (store) =>
    Option.match(at, { onNone: () => Effect.succeed<StoreView>(store), onSome: (ref) => store.at(ref) })
  )

/** The document, or an error that names it. */
export const documentOf = (view: StoreView, collection: string, id: string) =>
  Effect.flatMap(
    view.collection(collection).get(id),
    Option.match({
      onNone: () =>
        Effect.fail(
          new NotFoundError({
            operation: "get",
            collection,
            id,
            message: `there is no document ${id} in ${collection}`,
            hint: "`collections` and `query` show what there is"
          })
        ),
      onSome: Effect.succeed
    })
  )

export const collections = storeCommand(
  "collections",
  "List the collections.",
  {
    at: atOption("Look at"),
    count: Options.boolean("count").pipe(Options.withDescription("Count each one's documents")),
    json: jsonOption
  },
  ({ at, count, json }) =>
    Effect.gen(function* () {
      const view = yield* viewAt(at)
      const names = yield* view.collections
      const rows = yield* Effect.forEach(count ? names : [], (name) =>
        Effect.map(view.collection(name).count, (documents) => ({ name, documents }))
      )
      yield* print(json, count ? rows : names, (columns) =>
        names.length === 0
          ? "There are no collections yet."
          : count
            ? table(
                ["collection", "documents"],
                rows.map((row) => [row.name, row.documents]),
                columns
              )
            : names.join("\n")
      )
    })
)

/** A definition in one line: the fields, and what else there is to it. */
const definitionOf = ({ fields, unique, where }: StoredIndex): string =>
  [
    fields.map(({ field, order }) => (order === "desc" ? `${field} desc` : field)).join(", "),
    ...(unique ? ["unique"] : []),
    ...(where === undefined ? [] : [`where ${JSON.stringify(where)}`])
  ].join("; ")

export const indexes = storeCommand(
  "indexes",
  "List the indexes of a collection, or of all, with the number of their rows.",
  { collection: Args.optional(collectionArgument), at: atOption("Look at"), json: jsonOption },
  ({ at, collection, json }) =>
    Effect.gen(function* () {
      const all = yield* (yield* viewAt(at)).indexes
      const found = all.filter((index) => Option.isNone(collection) || index.collection === collection.value)
      yield* print(json, found, (columns) =>
        found.length === 0
          ? "There are no indexes."
          : table(
              ["collection", "index", "fields", "rows", "state"],
              found.map((index) => [
                index.collection,
                index.name,
                definitionOf(index),
                index.rows ?? "",
                index.current ? "current" : index.rows === undefined ? "missing or damaged" : "behind"
              ]),
              columns
            )
      )
    })
)

export const get = storeCommand(
  "get",
  "Print a document.",
  {
    collection: collectionArgument,
    id: idArgument,
    at: atOption("Look at"),
    sha: Options.boolean("sha").pipe(
      Options.withDescription(
        "Print its revision, blob id and commit with it: --expected-sha takes the blob id"
      )
    ),
    json: jsonOption
  },
  ({ at, collection, id, sha }) =>
    Effect.gen(function* () {
      const view = yield* viewAt(at)
      const found = sha ? yield* view.collection(collection).version(id) : Option.none()
      const document = Option.isSome(found) ? found.value : yield* documentOf(view, collection, id)
      yield* print(true, document, () => "")
    })
)

export const query = storeCommand(
  "query",
  "Find documents, by a field's value or all; indexed fields are answered from the index.",
  {
    collection: collectionArgument,
    field: textOption("field", "A field's name"),
    value: textOption("value", "Its value in JSON; what is not JSON counts as text"),
    after: textOption("after", "Only ids after this one"),
    limit: limitOption(50),
    columns: columnsOption("Show"),
    at: atOption("Look at"),
    json: jsonOption
  },
  ({ after, at, collection, columns, field, json, limit, value }) =>
    Effect.gen(function* () {
      if (Option.isSome(value) && Option.isNone(field)) {
        return yield* new ValidationError({
          operation: "query",
          message: "--value needs the field that it is the value of",
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
      const reader = (yield* viewAt(at)).collection(collection)
      const options = { limit, after: Option.getOrUndefined(after) }
      const documents = Option.isSome(field)
        ? yield* reader.findBy(field.value, parseValue(Option.getOrThrow(value)), options)
        : yield* everyDocument(reader, options)
      const shown = Option.getOrElse(columns, () => columnsOf(documents))
      yield* print(
        json,
        Option.isSome(columns) ? documents.map((document) => chosen(document, shown)) : documents,
        (width) => (documents.length === 0 ? "No documents." : documentTable(documents, shown, width))
      )
    })
)

/** All documents up to the limit; a long read shows its progress. */
const everyDocument = (
  reader: CollectionReader,
  options: { readonly limit: number; readonly after: string | undefined }
) =>
  Effect.gen(function* () {
    const { messages } = yield* Screen
    const total = messages && options.limit > 500 ? Math.min(options.limit, yield* reader.count) : undefined
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

const chosen = (document: StoredDocument, columns: ReadonlyArray<string>) =>
  Object.fromEntries(columns.map((column) => [column, field(document, column) ?? null]))

const field = (document: JsonObject, column: string) =>
  Object.hasOwn(document, column) ? document[column] : undefined

const documentTable = (
  documents: ReadonlyArray<StoredDocument>,
  shown: ReadonlyArray<string>,
  width: number
) =>
  `${table(
    shown,
    documents.map((document) => shown.map((column) => field(document, column))),
    width
  )}\n${documents.length} document${documents.length === 1 ? "" : "s"}`

export const history = storeCommand(
  "history",
  "List the commits that changed a document, newest first.",
  { collection: collectionArgument, id: idArgument, limit: limitOption(30), json: jsonOption },
  ({ collection, id, json, limit }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const entries = yield* store.collection(collection).history(id, { limit })
      if (entries.length === 0) {
        return yield* new NotFoundError({
          operation: "history",
          collection,
          id,
          message: `there never was a document ${id} in ${collection}`
        })
      }
      yield* print(json, entries, (columns) =>
        table(
          ["commit", "date", "author", "message"],
          entries.map((entry) => [
            entry.sha.slice(0, 10),
            entry.date,
            entry.author,
            entry.message.split("\n")[0]
          ]),
          columns
        )
      )
    })
)

/** Differences as lines that a person reads. */
export const differenceLines = (found: ReadonlyArray<Difference>): string =>
  found.length === 0
    ? "No differences."
    : found
        .map(({ after, before, kind, path }) => {
          const name = printPath(path)
          if (kind === "added") return `+ ${name}: ${JSON.stringify(after)}`
          if (kind === "removed") return `- ${name}: ${JSON.stringify(before)}`
          return `~ ${name}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`
        })
        .join("\n")

export const diff = storeCommand(
  "diff",
  "Show what changed in a document between two commits, field by field.",
  {
    collection: collectionArgument,
    id: idArgument,
    from: Args.text({ name: "from" }).pipe(Args.withDescription("A commit, tag or branch")),
    to: Args.text({ name: "to" }).pipe(Args.withDescription("Another; default: the head"), Args.optional),
    json: jsonOption
  },
  ({ collection, from, id, json, to }) =>
    Effect.gen(function* () {
      const before = yield* (yield* viewAt(Option.some(from))).collection(collection).get(id)
      const after = yield* (yield* viewAt(to)).collection(collection).get(id)
      if (Option.isNone(before) && Option.isNone(after)) {
        return yield* new NotFoundError({
          operation: "diff",
          collection,
          id,
          message: `neither version holds a document ${id} in ${collection}`
        })
      }
      const found = differences(Option.getOrNull(before), Option.getOrNull(after))
      yield* print(
        json,
        found.map((one) => ({ ...one, path: printPath(one.path) })),
        () => differenceLines(found)
      )
    })
)
