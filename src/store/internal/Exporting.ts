import * as Effect from "effect/Effect"
import type { CollectionExports } from "../Collection.js"
import type { StoreView } from "../StoreService.js"
import { plain } from "./Codec.js"
import { makeReader } from "./Reader.js"
import type { StoreCore } from "./StoreCore.js"

/** Loaded when it is wanted: a page that exports nothing does not carry the writers of workbooks. */
const exports = Effect.promise(() => import("../transfer/Export.js"))

/** The core at the commit that it sees now. */
const pinned = (core: StoreCore) =>
  core.source.pinned ? Effect.succeed(core) : Effect.map(core.source.head, (head) => core.at(head))

export const collectionExports = (core: StoreCore, name: string): CollectionExports => {
  const source = Effect.map(pinned(core), (at) => makeReader(at, name, plain))
  return {
    exportExcel: (destination, options) =>
      Effect.zipWith(exports, source, ({ exportExcel }, collection) =>
        exportExcel(collection, destination, options)
      ).pipe(Effect.flatten, Effect.withSpan("Collection.exportExcel")),
    exportText: (destination, format, options) =>
      Effect.zipWith(exports, source, ({ exportText }, collection) =>
        exportText(collection, destination, format, options)
      ).pipe(Effect.flatten, Effect.withSpan("Collection.exportText"))
  }
}

export const storeExport =
  (core: StoreCore, view: (core: StoreCore) => StoreView): StoreView["exportExcel"] =>
  (destination, options) =>
    Effect.zipWith(exports, pinned(core), ({ exportDatabaseExcel }, at) =>
      exportDatabaseExcel(view(at), destination, options)
    ).pipe(Effect.flatten, Effect.withSpan("Store.exportExcel"))
