import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type ReadError, ValidationError } from "../../domain/errors/StoreError.js"
import type { CollectionEstimate, EstimateOptions, StoragePlan } from "../CollectionEstimate.js"
import { checkArguments } from "./calls/Arguments.js"
import type { StoreCore } from "./commit/StoreCore.js"
import { insertCost, recommendedStorage, storageAdvice } from "./derived/StorageAdvice.js"

const derivedOf = (core: StoreCore, name: string) =>
  Effect.gen(function* () {
    const snapshot = core.snapshot()
    const head = yield* snapshot.head
    const { settings } = yield* core.settings(snapshot)
    if (Option.isNone(head)) {
      return {
        settings,
        indexes: settings.indexes.get(name)?.length ?? 0,
        manifest: settings.manifests.has(name)
      }
    }
    const files = yield* core.derived.filesOf(snapshot, yield* core.repository.at(snapshot), name)
    return { settings, indexes: files.indexes.size, manifest: files.manifest !== undefined }
  })

/** The limits of planned sizes. */
const bounds = { documents: Number.MAX_SAFE_INTEGER, indexes: 1000 }

/** The cost of one insert into a collection with the current settings and with the recommended ones. */
export const estimate = (
  core: StoreCore,
  name: string,
  count: Effect.Effect<number, ReadError>,
  options: EstimateOptions = {}
): Effect.Effect<CollectionEstimate, ReadError> =>
  Effect.gen(function* () {
    const operation = "Collection.estimate"
    yield* checkArguments(operation, { collection: name })
    for (const [of, most] of Object.entries(bounds)) {
      const planned = options[of as keyof typeof bounds] ?? 0
      if (planned <= most) continue
      const message = `${of} must be at most ${most}, it is ${planned}`
      return yield* new ValidationError({ operation, collection: name, message })
    }
    const { settings, ...present } = yield* derivedOf(core, name)
    const documents = options.documents ?? (yield* count)
    const { indexes = present.indexes, manifest = present.manifest } = options
    const size = { documents, indexes, manifest }
    const planOf = ({
      format,
      shardBy,
      shardDepth,
      shardWidth
    }: Omit<StoragePlan, "insert">): StoragePlan => {
      const stored = { format, shardBy, shardDepth, shardWidth }
      return { ...stored, insert: insertCost(size, stored, core.remote) }
    }
    return {
      collection: name,
      ...size,
      current: planOf(settings),
      recommended: planOf(recommendedStorage(documents)),
      advice: storageAdvice(size, settings)
    }
  }).pipe(Effect.withSpan("Collection.estimate"))
