import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { parseManifestFile, projectedFields } from "../../domain/indexes/ManifestFile.js"
import type { ReadError } from "../Collection.js"
import type { Blob, GitRemoteService, Head } from "../remote/GitRemote.js"
import type { ProjectedManifest } from "./ManifestQuery.js"

/** Reads the manifest of a collection at the head or at a commit. Caches the parsed manifest of the head. */
export const makeManifestReader = (
  remote: GitRemoteService,
  branch: string,
  where: {
    readonly path: (collection: string) => string
    readonly at: (ref: string) => Effect.Effect<Option.Option<Head>, ReadError>
  }
) => {
  const latest = new Map<
    string,
    { readonly blob: Blob; readonly manifest: Option.Option<ProjectedManifest> }
  >()

  const parse = ({ content }: { readonly content: Uint8Array }): Option.Option<ProjectedManifest> =>
    Option.map(Option.fromNullable(parseManifestFile(content)), (manifest) => ({
      ...manifest,
      fields: projectedFields(manifest)
    }))

  return Effect.fnUntraced(function* (collection: string, at: string | undefined) {
    const path = where.path(collection)
    if (at !== undefined) {
      const head = yield* where.at(at)
      if (Option.isNone(head)) return Option.none<ProjectedManifest>()
      return Option.flatMap(yield* remote.file(head.value, path), parse)
    }
    const cached = latest.get(collection)
    const read = yield* remote.snapshot(branch).file(path, { cached: Option.fromNullable(cached?.blob) })
    if (Option.isNone(read)) return Option.none<ProjectedManifest>()
    const { content, oid } = read.value
    if (cached?.blob.oid === oid) return cached.manifest
    const manifest = parse(read.value)
    latest.set(collection, { blob: { path, oid, content }, manifest })
    return manifest
  })
}

/** Reads the manifest of a collection; see `makeManifestReader`. */
export type ManifestReader = ReturnType<typeof makeManifestReader>
