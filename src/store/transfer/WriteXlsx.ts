import * as Effect from "effect/Effect"
import type { Destination } from "./Destination.js"
import type { RecordSource } from "./Records.js"

/**
 * Writes records as the one sheet of a workbook, in constant memory; answers the columns. What writes workbooks is
 * loaded by the first call, so that a page that writes none does not carry it.
 */
export const writeXlsx = <D extends Destination<unknown, unknown>, E = never, R = never>(
  destination: D,
  records: RecordSource<E, R>,
  options: {
    readonly columns?: ReadonlyArray<string> | undefined
    readonly sheetName?: string | undefined
  } = {}
) =>
  Effect.flatMap(
    Effect.promise(() => import("./Export.js")),
    (module) => module.writeXlsx(destination, records, options)
  )
