import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { isDocumentId } from "../../../domain/identifiers/DocumentId.js"
import type { IndexDefinition } from "../../../domain/indexes/IndexDefinition.js"
import type { IndexFile } from "../../../domain/indexes/IndexFile.js"
import { lookupKeys } from "../../../domain/indexes/IndexKey.js"
import { parseLosslessOrEmpty, toJson } from "../../../domain/json/LosslessJson.js"
import type { Layout } from "../../../domain/settings/Settings.js"
import { documentPath } from "../../DocumentPath.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import { type UniqueIndex, uniqueValues } from "./Uniqueness.js"

/** A unique index of format 1, and the snapshot of its collection. */
interface FilePlace {
  readonly snapshot: Snapshot
  readonly options: Pick<ResolvedOptions, "root" | "concurrency">
  readonly layout: Layout
  readonly collection: string
  readonly definition: IndexDefinition
  readonly stored: IndexFile | undefined
}

/** A unique index of format 1. Several values may have one key in its file, so the documents are compared. */
export const uniqueIndexFile = (place: FilePlace): UniqueIndex => {
  const { collection, definition, layout, options, snapshot, stored } = place
  const values = stored?.values ?? new Map<string, ReadonlyArray<string>>()

  /** The first document that has a value. */
  const holder = (ids: ReadonlyArray<string>, key: string) =>
    snapshot
      .files(
        ids.map((id) => documentPath(options.root, layout, collection, id)),
        { concurrency: options.concurrency }
      )
      .pipe(
        Stream.filter(({ content }) => uniqueValues(definition, parseLosslessOrEmpty(content)).has(key)),
        Stream.map(({ path }) => path.slice(path.lastIndexOf("/") + 1, -".json".length)),
        Stream.runHead
      )

  return {
    collection,
    definition,
    holders: (wanted, except) =>
      Effect.gen(function* () {
        const found = new Map<string, string>()
        for (const [key, [value]] of wanted) {
          const keys = lookupKeys(toJson(value)!, values) ?? []
          const ids = keys.flatMap((text) => values.get(text) ?? [])
          const others = ids.filter((id) => isDocumentId(id) && !except.has(id))
          const first = others.length === 0 ? Option.none() : yield* holder(others, key)
          if (Option.isSome(first)) found.set(key, first.value)
        }
        return Option.some(found)
      })
  }
}
