import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { NotFoundError, ValidationError, type WriteError } from "../../domain/errors/StoreError.js"
import {
  decodeIndexDefinition,
  type IndexDefinition,
  type IndexOptions,
  sameIndex
} from "../../domain/indexes/IndexDefinition.js"
import { type Settings, settingsFileName } from "../../domain/settings/Settings.js"
import { compareCodePoints } from "../../domain/text/CodePointOrder.js"
import type { ReindexOptions, WriteOptions } from "../Collection.js"
import { under } from "../DocumentPath.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import { checkArguments } from "./calls/Arguments.js"
import { reportingOutsideLock } from "./calls/Progress.js"
import type { DocumentEdit } from "./commit/DocumentEdit.js"
import type { StoreCore } from "./commit/StoreCore.js"
import { adoptForeignFiles, removeFiles } from "./derived/FormatChange.js"
import type { Snapshot } from "./snapshot/Snapshot.js"

/** A change of the recorded indexes of a collection. */
interface IndexChange {
  readonly operation: string
  readonly collection: string
  readonly message: string
}

const partsOf = ({ derived, options, remote }: StoreCore) => ({
  derived,
  remote,
  options: options as ResolvedOptions
})

/** The error for a store that cannot change the recorded indexes; undefined if it can. */
const problemOf = (core: StoreCore, { collection, operation }: IndexChange): ValidationError | undefined =>
  core.transaction !== undefined
    ? new ValidationError({
        operation,
        collection,
        message: "a transaction contains documents only: it cannot change an index",
        hint: "change the index before the transaction or after it"
      })
    : core.options.given.indexes === undefined
      ? undefined
      : new ValidationError({
          operation,
          collection,
          message: "the store was opened with the option indexes, which must equal the recorded indexes",
          hint: "open it without this option to change them: it then adopts the recorded indexes"
        })

const withIndexes = (
  settings: Settings,
  collection: string,
  list: ReadonlyArray<IndexDefinition>
): Settings => {
  const indexes = new Map(settings.indexes)
  if (list.length === 0) indexes.delete(collection)
  else
    indexes.set(
      collection,
      [...list].sort((a, b) => compareCodePoints(a.name, b.name))
    )
  return { ...settings, indexes }
}

/** Commits new settings that depend on the recorded ones; none writes nothing. */
const changeSettings = (
  core: StoreCore,
  { message, operation }: IndexChange,
  { onRead }: Pick<DocumentEdit, "onRead">,
  next: (
    recorded: Settings,
    snapshot: Snapshot
  ) => Effect.Effect<
    Option.Option<Pick<DocumentEdit, "files" | "reindex"> & { readonly settings: Settings }>,
    WriteError
  >
): Effect.Effect<Option.Option<string>, WriteError> =>
  core
    .write({
      operation,
      message,
      mode: "batch",
      plan: (snapshot) =>
        Effect.gen(function* () {
          yield* snapshot.head
          const at = yield* core.repository.at(snapshot.untracked)
          if (at.mismatch !== undefined) return yield* at.mismatch
          // Index files of other programs are kept as indexes of the settings.
          const recorded = at.recorded
            ? at.settings
            : yield* adoptForeignFiles(partsOf(core), snapshot.untracked, at)
          return Option.map(yield* next(recorded, snapshot), (change) => ({
            operation,
            message,
            mode: "batch" as const,
            operations: [],
            onRead,
            ...change
          }))
        })
    })
    .pipe(Effect.map(({ committed }) => Option.map(committed, ({ commit }) => commit as string)))

/** Records an index of a collection and builds it, in one commit; none if it is recorded already. */
export const createIndex = (
  core: StoreCore,
  collection: string,
  given: string | IndexOptions,
  { message, onProgress }: ReindexOptions = {}
): Effect.Effect<Option.Option<string>, WriteError> =>
  Effect.gen(function* () {
    const operation = "Collection.createIndex"
    yield* checkArguments(operation, { collection })
    const decoded = decodeIndexDefinition(given)
    if (Either.isLeft(decoded)) {
      return yield* new ValidationError({
        operation,
        collection,
        message: `the index of ${collection}: ${decoded.left}`,
        hint: "docs/indexes.md describes the members of an index"
      })
    }
    const index = decoded.right
    const { name } = index
    const change = { operation, collection, message: message ?? `create the index ${name} of ${collection}` }
    const problem = problemOf(core, change)
    if (problem !== undefined) return yield* problem
    return yield* reportingOutsideLock(onProgress, (onRead) =>
      changeSettings(core, change, { onRead }, (recorded) => {
        const list = recorded.indexes.get(collection) ?? []
        const existing = list.find((one) => one.name === name)
        if (existing === undefined) {
          const settings = withIndexes(recorded, collection, [...list, index])
          return Effect.succeedSome({ settings, reindex: [collection] })
        }
        return sameIndex(existing, index)
          ? Effect.succeedNone
          : new ValidationError({
              operation,
              collection,
              message: `${collection} has an index ${name} with another definition`,
              hint: "give the new index another name, or drop the existing one first"
            })
      })
    )
  })

/** Removes an index of a collection from the settings, with its files, in one commit. */
export const dropIndex = (
  core: StoreCore,
  collection: string,
  name: string,
  { message }: WriteOptions = {}
): Effect.Effect<string, WriteError> =>
  Effect.gen(function* () {
    const operation = "Collection.dropIndex"
    yield* checkArguments(operation, { collection })
    const change = { operation, collection, message: message ?? `drop the index ${name} of ${collection}` }
    const problem = problemOf(core, change)
    if (problem !== undefined) return yield* problem
    const committed = yield* changeSettings(core, change, {}, (recorded, snapshot) =>
      Effect.gen(function* () {
        const list = recorded.indexes.get(collection) ?? []
        const dropped = list.filter((one) => one.name === name)
        if (dropped.length === 0) {
          const names = list.map((one) => one.name).join(", ")
          return yield* new NotFoundError({
            operation,
            collection,
            path: under(core.options.root, settingsFileName),
            message: `${collection} has no index ${name}`,
            hint: list.length === 0 ? `${collection} has no indexes` : `its indexes are ${names}`
          })
        }
        const only = { ...recorded, indexes: new Map([[collection, dropped]]), manifests: new Map() }
        const files = yield* removeFiles(partsOf(core), snapshot.untracked, only, [collection])
        const left = list.filter((one) => one.name !== name)
        return Option.some({ settings: withIndexes(recorded, collection, left), files, reindex: [] })
      })
    )
    return Option.getOrThrow(committed)
  })
