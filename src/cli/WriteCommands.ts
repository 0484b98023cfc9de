import { Args, Options } from "@effect/cli"
import { FileSystem } from "@effect/platform"
import { Chunk, Effect, Option, Stream } from "effect"
import type { JsonObject } from "../domain/Document.js"
import { ValidationError } from "../domain/StoreError.js"
import { differences } from "../store/browse/index.js"
import type { ReindexProgress, WriteError } from "../store/Collection.js"
import { type Batch, Store, type StoreService } from "../store/Store.js"
import { parseExactly } from "../store/transfer/ExactJson.js"
import { normaliseRecord } from "../store/transfer/Normalise.js"
import { sourceError } from "../store/transfer/Records.js"
import { utf8Text } from "../store/transfer/Utf8Text.js"
import { standardInput } from "./Input.js"
import { jsonOption, print } from "./Output.js"
import { previewedDocument, printPreview } from "./Preview.js"
import { withProgress } from "./Progress.js"
import { collectionArgument, differenceLines, documentOf, idArgument } from "./ReadCommands.js"
import { storeCommand } from "./StoreCommand.js"

const messageOption = Options.text("message").pipe(
  Options.withAlias("m"),
  Options.withDescription("The commit's message"),
  Options.optional
)
const expectedRevOption = Options.integer("expected-rev").pipe(
  Options.withDescription("Write only if the stored _rev is this"),
  Options.optional
)
const expectedShaOption = Options.text("expected-sha").pipe(
  Options.withDescription("Write only if the stored file's blob id is this, which get --sha prints"),
  Options.optional
)
const dryRunOption = Options.boolean("dry-run").pipe(
  Options.withDescription("Show what would be done and write nothing")
)

const guarded = (message: Option.Option<string>, expectedRev: Option.Option<number>) => ({
  message: Option.getOrUndefined(message),
  expectedRev: Option.getOrUndefined(expectedRev)
})

/** A write that happens only where the document's file is the expected blob. */
const guardedBySha = (
  store: StoreService,
  place: { readonly collection: string; readonly id: string; readonly sha: string },
  message: string,
  write: (batch: Batch) => Effect.Effect<void, WriteError>
) =>
  store.batch({ message }, (batch) =>
    Effect.zipRight(batch.expect(place.collection, place.id, { sha: place.sha }), write(batch))
  )

/** Refuses an option that contradicts another one that was given. */
const alone = (operation: string, option: string, others: { readonly [option: string]: boolean }) => {
  const other = Object.keys(others).find((name) => others[name])
  return other === undefined
    ? Effect.void
    : Effect.fail(
        new ValidationError({ operation, message: `${option} cannot be given together with ${other}` })
      )
}

export const put = storeCommand(
  "put",
  "Write a document: from --data, a file, or standard input; replaces what is there, or merges into it.",
  {
    collection: collectionArgument,
    id: idArgument,
    file: Args.text({ name: "file" }).pipe(
      Args.withDescription("A JSON file; - or nothing: standard input"),
      Args.optional
    ),
    data: Options.text("data").pipe(Options.withDescription("The document in JSON"), Options.optional),
    merge: Options.boolean("merge").pipe(
      Options.withDescription("Merge into the stored document at the top level")
    ),
    insert: Options.boolean("insert").pipe(
      Options.withDescription("Refuse to write over an existing document")
    ),
    expectedRev: expectedRevOption,
    expectedSha: expectedShaOption,
    message: messageOption,
    dryRun: dryRunOption,
    json: jsonOption
  },
  ({ collection: name, data, dryRun, expectedRev, expectedSha, file, id, insert, json, merge, message }) =>
    Effect.gen(function* () {
      if (Option.isSome(expectedSha)) {
        yield* alone("put", "--expected-sha", {
          "--merge": merge,
          "--insert": insert,
          "--expected-rev": Option.isSome(expectedRev)
        })
      }
      if (insert) yield* alone("put", "--insert", { "--expected-rev": Option.isSome(expectedRev) })
      const store = yield* Store
      const document = yield* documentIn(yield* textOf(data, file))
      const options = guarded(message, expectedRev)
      const write = (into: StoreService) => {
        const collection = into.collection(name)
        if (Option.isSome(expectedSha)) {
          const place = { collection: name, id, sha: expectedSha.value }
          return Effect.asVoid(
            guardedBySha(into, place, options.message ?? `replace ${name}/${id}`, (batch) =>
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
        const found = yield* wouldChange(name, id, write)
        return yield* print(json, found, () => differenceLines(found))
      }
      yield* write(store)
      const stored = yield* documentOf(store, name, id)
      yield* print(json, stored, () => `${name}/${id} is at revision ${stored._rev}.`)
    }),
  ({ dryRun }) => (dryRun ? "imagine" : "create")
)

/** What a write of one document would change in it; fails as the write would. */
const wouldChange = <A, E, R>(
  name: string,
  id: string,
  write: (store: StoreService) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const store = yield* Store
    const stored = Option.getOrNull(yield* store.collection(name).get(id))
    const commit = yield* store.preview(write)
    const next = Option.match(commit, {
      onNone: () => stored,
      onSome: (shown) => previewedDocument(store.root, shown, name, id)
    })
    return differences(withoutMetadata(stored), withoutMetadata(next))
  })

const textOf = (data: Option.Option<string>, file: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isSome(data)) return data.value
    const files = yield* FileSystem.FileSystem
    const bytes =
      Option.isSome(file) && file.value !== "-"
        ? Stream.mapError(files.stream(file.value), sourceError("put"))
        : yield* standardInput
    return Chunk.join(yield* Stream.runCollect(utf8Text(bytes, "put")), "")
  })

const documentIn = (text: string) =>
  Effect.try({
    try: () => {
      const value = parseExactly(text)
      if (typeof value !== "object" || value === null || Array.isArray(value))
        throw new Error("it is not an object")
      return normaliseRecord(value)
    },
    catch: (cause) =>
      cause instanceof ValidationError
        ? cause
        : new ValidationError({
            operation: "put",
            message: `the document is not JSON: ${cause instanceof Error ? cause.message : cause}`,
            hint: "quote it for your shell, or pass it on standard input"
          })
  })

const withoutMetadata = (document: JsonObject | null): JsonObject | null => {
  if (document === null) return null
  const { _id, _rev, _created_at, _updated_at, ...rest } = document
  return rest
}

export const remove = storeCommand(
  "delete",
  "Delete a document; its history stays.",
  {
    collection: collectionArgument,
    id: idArgument,
    expectedRev: expectedRevOption,
    expectedSha: expectedShaOption,
    message: messageOption,
    dryRun: dryRunOption,
    json: jsonOption
  },
  ({ collection, dryRun, expectedRev, expectedSha, id, json, message }) =>
    Effect.gen(function* () {
      if (Option.isSome(expectedSha)) {
        yield* alone("delete", "--expected-sha", { "--expected-rev": Option.isSome(expectedRev) })
      }
      const store = yield* Store
      const options = guarded(message, expectedRev)
      const write = (from: StoreService) =>
        Option.match(expectedSha, {
          onNone: () => from.collection(collection).delete(id, options),
          onSome: (sha) =>
            Effect.asVoid(
              guardedBySha(
                from,
                { collection, id, sha },
                options.message ?? `delete ${collection}/${id}`,
                (batch) => batch.delete(collection, id)
              )
            )
        })
      if (dryRun) {
        yield* store.preview(write)
        const stored = yield* documentOf(store, collection, id)
        return yield* print(
          json,
          stored,
          () => `${collection}/${id} at revision ${stored._rev} would be deleted.`
        )
      }
      yield* write(store)
      yield* print(json, { deleted: id }, () => `${collection}/${id} is deleted.`)
    })
)

const commitArgument = Args.text({ name: "commit" }).pipe(Args.withDescription("A commit's id"))

export const restore = storeCommand(
  "restore",
  "Bring an earlier version of a document back, as a new commit.",
  {
    collection: collectionArgument,
    id: idArgument,
    commit: commitArgument,
    message: messageOption,
    dryRun: dryRunOption,
    json: jsonOption
  },
  ({ collection, commit, dryRun, id, json, message }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const write = (into: StoreService) =>
        into.collection(collection).restore(id, commit, { message: Option.getOrUndefined(message) })
      if (dryRun) {
        const found = yield* wouldChange(collection, id, write)
        return yield* print(json, found, () => differenceLines(found))
      }
      const restored = yield* write(store)
      yield* print(json, restored, () => `${collection}/${id} is at revision ${restored._rev}.`)
    })
)

export const revert = storeCommand(
  "revert",
  "Undo a commit with a new commit.",
  {
    commit: commitArgument,
    force: Options.boolean("force").pipe(
      Options.withDescription("Also undo documents that changed again since then")
    ),
    message: messageOption,
    dryRun: dryRunOption,
    json: jsonOption
  },
  ({ commit, dryRun, force, json, message }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const options = { force, message: Option.getOrUndefined(message) }
      if (dryRun) return yield* printPreview(json, yield* store.preview((dry) => dry.revert(commit, options)))
      const reverted = yield* store.revert(commit, options)
      yield* print(json, reverted, () =>
        [
          `${reverted.documents.length} documents are as they were, in commit ${reverted.commitSha.slice(0, 10)}.`,
          ...reverted.skipped.map((path) => `left alone: ${path}`)
        ].join("\n")
      )
    })
)

export const reindex = storeCommand(
  "reindex",
  "Rebuild the index and manifest files of a collection.",
  { collection: collectionArgument, message: messageOption, dryRun: dryRunOption, json: jsonOption },
  ({ collection, dryRun, json, message }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const total = yield* store.collection(collection).count
      const rebuilt = <A, E>(
        run: (onProgress: (progress: ReindexProgress) => Effect.Effect<void>) => Effect.Effect<A, E>
      ) =>
        withProgress(`reindexing ${collection}`, total, (progress) =>
          run(({ documents }) => progress.tell(documents))
        )
      const options = { message: Option.getOrUndefined(message) }
      if (dryRun) {
        const shown = yield* rebuilt((onProgress) =>
          store.preview((dry) => dry.collection(collection).reindex({ ...options, onProgress }))
        )
        return yield* printPreview(json, shown)
      }
      const commit = yield* rebuilt((onProgress) =>
        store.collection(collection).reindex({ ...options, onProgress })
      )
      yield* print(json, { commitSha: Option.getOrNull(commit) }, () =>
        Option.match(commit, {
          onNone: () => `The indexes of ${collection} were right; nothing was written.`,
          onSome: (sha) => `The indexes of ${collection} are rebuilt in commit ${sha.slice(0, 10)}.`
        })
      )
    })
)
