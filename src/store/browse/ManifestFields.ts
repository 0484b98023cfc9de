import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { parseSettings, type Settings } from "../../domain/settings/Settings.js"
import type { ReadError } from "../Collection.js"
import type { FileVersion } from "../remote/GitRemote.js"

/** Reads the fields of manifests of format 2 from the settings. Caches the parsed settings by their blob id. */
export const makeManifestFieldsReader = () => {
  let cached: { readonly oid: Oid; readonly settings: Settings | undefined } | undefined
  return (
    collection: string,
    oid: Oid,
    read: Effect.Effect<Option.Option<FileVersion>, ReadError>
  ): Effect.Effect<ReadonlyArray<string>, ReadError> =>
    Effect.gen(function* () {
      if (cached?.oid !== oid) {
        const file = yield* read
        const parsed = Option.isNone(file)
          ? undefined
          : Either.getOrUndefined(parseSettings(file.value.content))
        cached = { oid, settings: parsed?.settings }
      }
      const { settings } = cached
      return settings?.format === 2 ? (settings.manifests.get(collection) ?? []) : []
    })
}

/** Returns the fields of a manifest; see `makeManifestFieldsReader`. */
export type ManifestFieldsReader = ReturnType<typeof makeManifestFieldsReader>
