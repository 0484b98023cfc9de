import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Streams from "../../../domain/concurrency/Streams.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Layout } from "../../../domain/settings/Settings.js"
import { pathProblem } from "../../../git/Names.js"
import { documentPath, under } from "../../DocumentPath.js"
import { listAt } from "../snapshot/Listing.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import { type DocumentOperation, nameOfDocument, type StoredVersion } from "./DocumentEdit.js"
import type { EditDependencies } from "./EditPlan.js"
import { readVersion } from "./VersionCodec.js"

/** Reads documents of a snapshot. Missing documents have no entry in the result. */
export const readStoredVersions = (
  { options, remote }: Pick<EditDependencies, "options" | "remote">,
  snapshot: Snapshot,
  layout: Layout,
  documents: ReadonlyArray<
    Pick<DocumentOperation, "collection" | "id"> & { readonly needs?: DocumentOperation["needs"] }
  >
): Effect.Effect<ReadonlyMap<string, StoredVersion>, ReadError> =>
  Effect.gen(function* () {
    const found = new Map<string, StoredVersion>()
    const wanted = new Map<string, string>()
    for (const document of documents) {
      const { collection, id } = document
      const path = documentPath(options.root, layout, collection, id)
      // The layout may have no path for an id: nothing is read then, and preparing the operation reports the problem.
      if (pathProblem(path) === undefined) wanted.set(path, nameOfDocument(document))
    }
    if (wanted.size === 0) return found
    if (wanted.size === 1) {
      for (const [path, name] of wanted) {
        const expect = documents[0]?.needs === "absent" ? "absent" : "cached"
        const file = yield* snapshot.file(path, { assume: expect })
        if (Option.isSome(file)) found.set(name, yield* readVersion(path, file.value))
      }
      return found
    }
    const { concurrency } = options
    const keep = ({
      content,
      oid,
      path
    }: {
      readonly path: string
      readonly oid: Oid
      readonly content: Uint8Array
    }) =>
      Effect.suspend(() => {
        const name = wanted.get(path)
        return name === undefined
          ? Effect.void
          : Effect.map(readVersion(path, { oid, content }), (version) => void found.set(name, version))
      })
    const head = yield* snapshot.head
    const each = remote.estimate({ _tag: "Read", documents: wanted.size })
    if (Option.isNone(head) || each <= remote.estimate({ _tag: "List", entries: wanted.size })) {
      yield* Streams.forEach(snapshot.files([...wanted.keys()], { concurrency }), keep)
      return found
    }
    // Listing the directories shows which documents exist, with fewer requests than reading each.
    const files: Array<{ readonly path: string; readonly oid: Oid }> = []
    for (const path of wanted.keys()) snapshot.readSet.files.set(path, null)
    for (const collection of new Set(documents.map(({ collection }) => collection))) {
      const directory = under(options.root, collection)
      const listing = yield* listAt(remote, head.value, directory, layout)
      for (const path of wanted.keys()) {
        if (!path.startsWith(`${directory}/`)) continue
        const oid = listing.find(path.slice(directory.length + 1))
        if (oid === undefined) continue
        snapshot.readSet.files.set(path, oid)
        files.push({ path, oid })
      }
    }
    if (files.length > 0) yield* Streams.forEach(remote.blobs(head.value, files, { concurrency }), keep)
    return found
  })
