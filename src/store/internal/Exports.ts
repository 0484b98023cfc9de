import * as Effect from "effect/Effect"
import type { StoredDocument } from "../../domain/document/Document.js"
import { ValidationError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { inexactNumbers } from "../../domain/json/JsonText.js"
import type { CollectionExports } from "../Collection.js"
import { under } from "../DocumentPath.js"
import { exportDatabaseExcel, exportExcel, exportText } from "../transfer/Export.js"
import type { StoreView } from "../View.js"
import { makeCollectionReader } from "./CollectionReader.js"
import { type Codec, plain } from "./calls/Codec.js"
import type { StoreCore } from "./commit/StoreCore.js"
import { readDocument } from "./commit/VersionCodec.js"

/** Documents for export: a number that the export would change is refused. */
const copied: Codec<StoredDocument, JsonObject> = {
  ...plain,
  read: (place, content) =>
    Effect.flatMap(readDocument(place, content), (document) => {
      const [lost] = inexactNumbers(content)
      if (lost === undefined) return Effect.succeed(document)
      return Effect.fail(
        new ValidationError({
          ...place,
          message: `${place.path}: the number ${lost.text} at ${lost.path} cannot be exported without changing it`,
          hint: "store it as text, or take the file itself from a clone",
          issues: [{ path: lost.path, message: `${lost.text} is not exactly a JavaScript number` }]
        })
      )
    })
}

/** A core pinned to the current commit; records that the directory is read. */
const pinned = (core: StoreCore, directory: string) =>
  core.isPinned
    ? Effect.succeed(core)
    : Effect.suspend(() => {
        const snapshot = core.snapshot()
        return Effect.map(snapshot.head, (head) => {
          snapshot.readSet.directories.add(directory)
          return core.at(head)
        })
      })

export const collectionExports = (core: StoreCore, name: string): CollectionExports => {
  const source = Effect.map(pinned(core, under(core.options.root, name)), (at) =>
    makeCollectionReader(at, name, copied)
  )
  return {
    exportExcel: (destination, options) =>
      Effect.flatMap(source, (collection) => exportExcel(collection, destination, options)),
    exportText: (destination, format, options) =>
      Effect.flatMap(source, (collection) => exportText(collection, destination, format, options))
  }
}

export const storeExport =
  (core: StoreCore, view: (core: StoreCore) => StoreView): StoreView["exportExcel"] =>
  (destination, options) =>
    Effect.flatMap(pinned(core, core.options.root), (at) =>
      exportDatabaseExcel(
        { collections: view(at).collections, collection: (name) => makeCollectionReader(at, name, copied) },
        destination,
        options
      )
    )
