import { Args, Options } from "@effect/cli"
import { Effect, Option } from "effect"
import { NotFoundError } from "../domain/errors/StoreError.js"
import { printPath } from "../store/browse/index.js"
import { verbatimDocuments } from "../store/browse/VerbatimDocuments.js"
import { Store } from "../store/Store.js"
import type { StoredIndex, StoreView } from "../store/View.js"
import { atOption, collectionArgument, idArgument, limitOption } from "./CommandOptions.js"
import { jsonOption, print, table } from "./CommandOutput.js"
import { type ExactDifference, exactDifferences } from "./ExactDifferences.js"
import { jsonLine } from "./JsonOutput.js"
import { storeCommand } from "./StoreCommand.js"

/** The store, or its view at a commit, tag or branch. */
export const viewAt = (at: Option.Option<string>) =>
  Effect.flatMap(Store, (store) =>
    Option.match(at, { onNone: () => Effect.succeed<StoreView>(store), onSome: (ref) => store.at(ref) })
  )

/** The document with its numbers as its file spells them, or a `NotFoundError`. */
export const documentOf = (view: Pick<StoreView, "collection">, collection: string, id: string) =>
  Effect.flatMap(
    view.collection(collection, verbatimDocuments).get(id),
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
    count: Options.boolean("count").pipe(Options.withDescription("Count the documents of each")),
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

/** Formats the definition of an index in one line. */
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
      const found = sha ? yield* view.collection(collection, verbatimDocuments).version(id) : Option.none()
      const document = Option.isSome(found) ? found.value : yield* documentOf(view, collection, id)
      yield* print(true, document, () => "")
    })
)

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
          message: `there has never been a document ${id} in ${collection}`
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

/** Formats differences, one per line. */
export const differenceLines = (found: ReadonlyArray<ExactDifference>): string =>
  found.length === 0
    ? "No differences."
    : found
        .map(({ after, before, kind, path }) => {
          const name = printPath(path)
          if (kind === "added") return `+ ${name}: ${jsonLine(after)}`
          if (kind === "removed") return `- ${name}: ${jsonLine(before)}`
          return `~ ${name}: ${jsonLine(before)} -> ${jsonLine(after)}`
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
      const versionAt = (ref: Option.Option<string>) =>
        Effect.flatMap(viewAt(ref), (view) => view.collection(collection, verbatimDocuments).get(id))
      const before = yield* versionAt(Option.some(from))
      const after = yield* versionAt(to)
      if (Option.isNone(before) && Option.isNone(after)) {
        return yield* new NotFoundError({
          operation: "diff",
          collection,
          id,
          message: `neither version holds a document ${id} in ${collection}`
        })
      }
      const found = exactDifferences(Option.getOrNull(before), Option.getOrNull(after))
      yield* print(
        json,
        found.map((one) => ({ ...one, path: printPath(one.path) })),
        () => differenceLines(found)
      )
    })
)
