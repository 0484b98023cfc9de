import * as Effect from "effect/Effect"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import type { CollectionExports } from "../Collection.js"
import type { StoreView } from "../View.js"
import type { StoreCore } from "./commit/StoreCore.js"

// Loaded on use, so that other pages do not contain the writers of workbooks.
const exporting = lazyModule(() => import("./Exports.js"))

export const collectionExports = (core: StoreCore, name: string): CollectionExports => {
  const exports = Effect.map(exporting, (loaded) => loaded.collectionExports(core, name))
  return {
    exportExcel: (...given) => Effect.flatMap(exports, (to) => to.exportExcel(...given)),
    exportText: (...given) => Effect.flatMap(exports, (to) => to.exportText(...given))
  }
}

export const storeExport =
  (core: StoreCore, view: (core: StoreCore) => StoreView): StoreView["exportExcel"] =>
  (...given) =>
    Effect.flatMap(exporting, (loaded) => loaded.storeExport(core, view)(...given))
