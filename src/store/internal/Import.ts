import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { WriteError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import {
  type ImportOptions,
  type ImportReport,
  type ImportTarget,
  importRecords
} from "../transfer/Import.js"
import type { RecordSource } from "../transfer/RecordSource.js"
import type { SourceError } from "../transfer/SourceError.js"
import type { Codec } from "./calls/Codec.js"
import { nameOfDocument } from "./commit/DocumentEdit.js"
import type { StoreCore } from "./commit/StoreCore.js"
import { readStoredVersions } from "./commit/StoredVersions.js"

const judging = lazyModule(() => import("./UniqueImportCheck.js"))

/** Imports records into a collection of a store. */
export const importInto = <E, R>(
  {
    codec,
    collection,
    core
  }: { readonly core: StoreCore; readonly collection: string; readonly codec: Codec<any, any> },
  records: RecordSource<E, R>,
  options: ImportOptions | undefined
): Effect.Effect<ImportReport, WriteError | SourceError | E, R> => {
  const stored: ImportTarget["stored"] = (ids) =>
    Effect.gen(function* () {
      const snapshot = core.snapshot()
      yield* snapshot.head
      const { settings } = yield* core.repository.at(snapshot)
      const found = yield* readStoredVersions(
        core,
        snapshot,
        settings,
        ids.map((id) => ({ collection, id }))
      )
      return new Map(
        ids.flatMap((id): ReadonlyArray<[string, JsonObject | null]> => {
          const version = found.get(nameOfDocument({ collection, id }))
          return version === undefined ? [] : [[id, Option.getOrNull(version.document)]]
        })
      )
    })
  const uniqueness = Effect.map(judging, ({ uniqueDryRun }) => uniqueDryRun(core, collection))
  return Effect.contextWithEffect((context: Context.Context<never>) => {
    const check = (document: JsonObject) => codec.problem(document, context)
    return importRecords({ core, collection, stored, uniqueness, check }, records, options)
  })
}
