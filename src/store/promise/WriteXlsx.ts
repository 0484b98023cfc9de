import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { SheetOptions } from "../transfer/Export.js"
import { withErrorListener } from "../transfer/NodeStreamErrors.js"
import { effectOptions, readSignalOption, type SignalOptions, signalOptions } from "./PromiseOptions.js"

/**
 * Writes documents to a workbook with one sheet, at a file path (on Node) or to a web stream. Returns the columns.
 *
 * @since 0.1.0
 * @category utilities
 */
export const writeXlsx = async (
  destination: string | WritableStream<Uint8Array>,
  documents: Iterable<unknown> | AsyncIterable<unknown>,
  options?: SheetOptions & SignalOptions
): Promise<ReadonlyArray<string>> => {
  const signal = readSignalOption(signalOptions(options))
  const kept = withErrorListener(documents)
  const [{ provideFileSystem }, module] = await Promise.all([
    import("./NodeFileSystem.js"),
    import("../transfer/Export.js")
  ])
  signal?.throwIfAborted()
  const exit = await Effect.runPromiseExit(
    provideFileSystem(destination, module.writeXlsx(destination, kept, effectOptions(options))),
    signal === undefined ? {} : { signal }
  )
  if (Exit.isSuccess(exit)) return exit.value
  signal?.throwIfAborted()
  throw Cause.squash(exit.cause)
}
