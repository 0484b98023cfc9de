import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { WriteError } from "../../domain/errors/StoreError.js"
import type { MergeRules } from "../../domain/merge/MergeRules.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import type { Collection, GuardedWriteOptions, MergingWriteOptions, WriteOptions } from "../Collection.js"
import { makeCollectionReader } from "./CollectionReader.js"
import { checkArguments } from "./calls/Arguments.js"
import type { Codec } from "./calls/Codec.js"
import type { DocumentOperation, EditOutcome } from "./commit/DocumentEdit.js"
import type { StoreCore } from "./commit/StoreCore.js"
import { type DocumentPlace, givenVersion } from "./commit/VersionCodec.js"
import { collectionExports } from "./LazyExports.js"

/** Loaded on use, so that other pages do not contain them. */
const changingIndexes = lazyModule(() => import("./ChangeIndexes.js"))
const estimating = lazyModule(() => import("./Estimate.js"))
const importing = lazyModule(() => import("./Import.js"))
const merging = lazyModule(() => import("./write/MergeWrites.js"))
const reindexing = lazyModule(() => import("./Reindex.js"))
const schemas = lazyModule(() => import("./WriteJsonSchema.js"))
const restoring = lazyModule(() => import("./write/Restore.js"))

const isMerging = ({ base, onConflict, rules }: MergingWriteOptions = {}): boolean =>
  base !== undefined || onConflict !== undefined || rules !== undefined

/** A collection of a store: its reads, and its writes of one document or of its index and manifest. */
export const makeCollection = <A, I>(
  core: StoreCore,
  name: string,
  codec: Codec<A, I>,
  rules?: MergeRules
): Collection<A, I> => {
  const target = { core, collection: name, codec, rules }
  const placeOf = (operation: string, id: string, path = `${name}/${id}`): DocumentPlace => ({
    operation,
    collection: name,
    id,
    path
  })

  const write = (
    operation: string,
    verb: string | ((existing: boolean) => string),
    id: string,
    options: WriteOptions | undefined,
    one: Pick<DocumentOperation, "needs" | "next" | "precondition">
  ): Effect.Effect<EditOutcome, WriteError> =>
    core.write({
      operation,
      message:
        options?.message ??
        (typeof verb === "string"
          ? `${verb} ${name}/${id}`
          : ([before]) => `${verb(before?._tag === "Some")} ${name}/${id}`),
      mode: "document",
      operations: [{ collection: name, id, ...one }]
    })

  const expected = (options: GuardedWriteOptions | undefined) =>
    options?.expectedRev === undefined ? undefined : { rev: options.expectedRev }

  /** The written document, decoded from its bytes, so that it shares nothing with the caller's value. */
  const written = (operation: string, id: string, outcome: EditOutcome) => {
    const [one] = outcome.documents
    const after = Option.getOrThrow(
      Option.flatMapNullable(Option.fromNullable(one), (it) => Option.getOrUndefined(it.after))
    )
    return codec.read(placeOf(operation, id, one?.path), after.content)
  }

  const reader = makeCollectionReader(core, name, codec)
  return {
    ...reader,
    ...collectionExports(core, name),
    insert: Effect.fnUntraced(function* (given, options) {
      const operation = "Collection.insert"
      const id = options?.id ?? (yield* core.nextId)
      yield* checkArguments(operation, { collection: name, id })
      const document = yield* codec.copy(placeOf(operation, id), given)
      const encoded = yield* codec.encode(placeOf(operation, id), document, options?.id === undefined)
      yield* write(operation, "insert", id, options, {
        needs: "absent",
        next: () => Effect.succeed(givenVersion(encoded))
      })
      return id
    }),
    update: Effect.fnUntraced(function* (id, given, options) {
      const operation = "Collection.update"
      yield* checkArguments(operation, { collection: name, id })
      const patch = yield* codec.copy(placeOf(operation, id), given)
      if (isMerging(options)) {
        const { updateFrom } = yield* merging
        return yield* written(operation, id, yield* updateFrom(target, id, patch, options))
      }
      const outcome = yield* write(operation, "update", id, options, {
        needs: "present",
        precondition: expected(options),
        next: (found) => {
          const stored = Option.getOrThrow(found)
          return Effect.map(codec.merge(placeOf(operation, id, stored.path), stored, patch), givenVersion)
        }
      })
      return yield* written(operation, id, outcome)
    }),
    replace: Effect.fnUntraced(function* (id, given, options) {
      const operation = "Collection.replace"
      yield* checkArguments(operation, { collection: name, id })
      const document = yield* codec.copy(placeOf(operation, id), given)
      const encoded = yield* codec.encode(placeOf(operation, id), document)
      if (isMerging(options)) {
        const { replaceFrom } = yield* merging
        return yield* written(operation, id, yield* replaceFrom(target, id, encoded, options))
      }
      const outcome = yield* write(operation, "replace", id, options, {
        needs: "present",
        precondition: expected(options),
        next: () => Effect.succeed(givenVersion(encoded))
      })
      return yield* written(operation, id, outcome)
    }),
    edit: (id, next, options) =>
      Effect.flatMap(merging, ({ edit }) =>
        Effect.flatMap(edit(target, id, next, options), (outcome) => written("Collection.edit", id, outcome))
      ),
    upsert: Effect.fnUntraced(function* (id, given, options) {
      const operation = "Collection.upsert"
      yield* checkArguments(operation, { collection: name, id })
      const document = yield* codec.copy(placeOf(operation, id), given)
      const encoded = yield* codec.encode(placeOf(operation, id), document)
      const outcome = yield* write(operation, (existing) => (existing ? "update" : "insert"), id, options, {
        needs: "any",
        precondition: expected(options),
        next: Option.match({
          onNone: () => Effect.succeed(givenVersion(encoded)),
          onSome: (stored) =>
            Effect.map(codec.mergeWhole(placeOf(operation, id, stored.path), stored, document), givenVersion)
        })
      })
      return yield* written(operation, id, outcome)
    }),
    delete: Effect.fnUntraced(function* (id, options) {
      const operation = "Collection.delete"
      yield* checkArguments(operation, { collection: name, id })
      yield* write(operation, "delete", id, options, {
        needs: "present",
        precondition: expected(options),
        next: () => Effect.succeed(givenVersion(null))
      })
    }),
    restore: Effect.fnUntraced(function* (id, commitSha, options) {
      const { restoreDocument } = yield* restoring
      const restored = yield* restoreDocument(core, name, id, commitSha, options)
      return yield* codec.fromDocument(placeOf("Collection.restore", id), restored)
    }),
    importRecords: (records, options) =>
      Effect.flatMap(importing, ({ importInto }) => importInto(target, records, options)),
    estimate: (options) =>
      Effect.flatMap(estimating, ({ estimate }) => estimate(core, name, reader.count, options)),
    reindex: Effect.fnUntraced(function* (options) {
      const operation = "Collection.reindex"
      yield* checkArguments(operation, { collection: name })
      const { reindex } = yield* reindexing
      return yield* reindex(core, operation, `reindex ${name}`, [name], options)
    }),
    createIndex: (index, options) =>
      Effect.flatMap(changingIndexes, ({ createIndex }) => createIndex(core, name, index, options)),
    dropIndex: (index, options) =>
      Effect.flatMap(changingIndexes, ({ dropIndex }) => dropIndex(core, name, index, options)),
    writeJsonSchema: (options) =>
      Effect.flatMap(schemas, ({ writeSchema }) => writeSchema(core, name, codec.schema, options))
  }
}
