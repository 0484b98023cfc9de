import { Args, Options } from "@effect/cli"
import { Effect, Option } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"
import type { IndexOptions } from "../domain/indexes/IndexDefinition.js"
import type { ReindexOptions, ReindexProgress } from "../store/Collection.js"
import { Store } from "../store/Store.js"
import type { StoreService } from "../store/StoreService.js"
import { collectionArgument, rejectCombination, textOption } from "./CommandOptions.js"
import { print } from "./CommandOutput.js"
import { printPreview } from "./CommitPreview.js"
import { writeOptions } from "./ConditionalWrite.js"
import { fieldOrder } from "./FieldOrder.js"
import { withProgress } from "./Progress.js"
import { storeCommand } from "./StoreCommand.js"

/** Shows the documents that a write of indexes has read. */
const withReadProgress = <A, E, R>(
  label: string,
  total: number | undefined,
  write: (onProgress: NonNullable<ReindexOptions["onProgress"]>) => Effect.Effect<A, E, R>
) =>
  withProgress(label, total, ({ report }) => {
    const read = new Map<string, number>()
    return write(({ collection, documents }: ReindexProgress) => {
      read.set(collection, documents)
      return report([...read.values()].reduce((sum, count) => sum + count, 0))
    })
  })

export const reindex = storeCommand(
  "reindex",
  "Rebuild the indexes and the manifest of a collection, or of all.",
  {
    collection: Args.optional(collectionArgument),
    format: Options.choiceWithValue("format", [
      ["1", 1],
      ["2", 2]
    ] as const).pipe(
      Options.withDescription("Change the format: one file each (1), or a tree of small files (2)"),
      Options.optional
    ),
    ...writeOptions
  },
  ({ collection, dryRun, format, json, message }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const name = Option.getOrUndefined(collection)
      if (Option.isSome(format))
        yield* rejectCombination("reindex", "--format", { "a collection": name !== undefined })
      const target = name ?? "all collections"
      const total = name === undefined ? undefined : yield* store.collection(name).count
      const options = { message: Option.getOrUndefined(message) }
      const write = (into: StoreService) =>
        withReadProgress(`reindexing ${target}`, total, (onProgress) =>
          name === undefined
            ? into.reindex({ ...options, onProgress, format: Option.getOrUndefined(format) })
            : into.collection(name).reindex({ ...options, onProgress })
        )
      if (dryRun) return yield* printPreview(json, yield* store.preview(write))
      const commit = yield* write(store)
      yield* print(json, { commitSha: Option.getOrNull(commit) }, () =>
        Option.match(commit, {
          onNone: () => `The indexes of ${target} are current; nothing was written.`,
          onSome: (sha) => `The indexes of ${target} are rebuilt in commit ${sha.slice(0, 10)}.`
        })
      )
    })
)

const readWhere = (where: Option.Option<string>): Effect.Effect<IndexOptions["where"], ValidationError> =>
  Option.match(where, {
    onNone: () => Effect.succeed(undefined),
    onSome: (text) =>
      Effect.try({
        try: () => JSON.parse(text) as IndexOptions["where"],
        catch: () =>
          new ValidationError({
            operation: "create-index",
            message: `--where ${JSON.stringify(text)} is not JSON`,
            hint: `give values by path, such as --where '{"status": "active"}'`
          })
      })
  })

export const createIndex = storeCommand(
  "create-index",
  "Add an index to a collection's settings, and build it, in one commit.",
  {
    collection: collectionArgument,
    fields: Args.text({ name: "fields" }).pipe(
      Args.withDescription("Its fields in order, separated by commas, such as 'city, age desc'")
    ),
    name: textOption("name", "The index's name; default: the names of its fields, joined by _"),
    unique: Options.boolean("unique").pipe(
      Options.withDescription("Refuse documents whose values in these fields another document has")
    ),
    where: textOption("where", 'Only documents with these values, in JSON, such as \'{"status": "active"}\''),
    ...writeOptions
  },
  ({ collection, dryRun, fields, json, message, name, unique, where }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const index = {
        fields: yield* fieldOrder("create-index", "the list of fields", fields),
        name: Option.getOrUndefined(name),
        unique,
        where: yield* readWhere(where)
      }
      const total = yield* store.collection(collection).count
      const write = (into: StoreService) =>
        withReadProgress(`indexing ${collection}`, total, (onProgress) =>
          into
            .collection(collection)
            .createIndex(index, { message: Option.getOrUndefined(message), onProgress })
        )
      if (dryRun) return yield* printPreview(json, yield* store.preview(write))
      const commit = yield* write(store)
      yield* print(json, { commitSha: Option.getOrNull(commit) }, () =>
        Option.match(commit, {
          onNone: () => `${collection} has this index already; nothing was written.`,
          onSome: (sha) => `The index of ${total} documents is created in commit ${sha.slice(0, 10)}.`
        })
      )
    })
)

export const dropIndex = storeCommand(
  "drop-index",
  "Remove an index from a collection's settings, with its files, in one commit.",
  {
    collection: collectionArgument,
    name: Args.text({ name: "name" }).pipe(Args.withDescription("The index's name, as `indexes` lists it")),
    ...writeOptions
  },
  ({ collection, dryRun, json, message, name }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const write = (from: StoreService) =>
        from.collection(collection).dropIndex(name, { message: Option.getOrUndefined(message) })
      if (dryRun) return yield* printPreview(json, yield* store.preview(write))
      const commitSha = yield* write(store)
      yield* print(
        json,
        { commitSha },
        () => `The index ${name} of ${collection} is dropped in commit ${commitSha.slice(0, 10)}.`
      )
    })
)
