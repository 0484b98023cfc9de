import * as Effect from "effect/Effect"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import type { Destination } from "./Destination.js"
import type { SheetOptions } from "./Export.js"
import { withErrorListener } from "./NodeStreamErrors.js"
import { type RecordSource, sourceError } from "./RecordSource.js"

const exporting = Effect.mapError(
  lazyModule(() => import("./Export.js")),
  sourceError("writeXlsx")
)

/**
 * Writes records to a workbook with one sheet, in constant memory. Returns the columns. The first call loads the code,
 * so that a page that writes no workbook does not load it.
 *
 * @since 0.1.0
 * @category exporting
 */
export const writeXlsx = <D extends Destination<unknown, unknown>, E = never, R = never>(
  destination: D,
  records: RecordSource<E, R>,
  options: SheetOptions = {}
) => {
  const kept = withErrorListener(records)
  return Effect.flatMap(exporting, (module) => module.writeXlsx(destination, kept, options))
}
