import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { wantDestination, wantNames, wantOptions } from "./Arguments.js"
import type { SignalOptions } from "./Runner.js"

/** Writes documents as the one sheet of a workbook: to a file's path (on Node) or a web stream. Answers the columns. */
export const writeXlsx = async (
  destination: string | WritableStream<Uint8Array>,
  documents: Iterable<unknown> | AsyncIterable<unknown>,
  options: SignalOptions & {
    readonly columns?: ReadonlyArray<string> | undefined
    readonly sheetName?: string | undefined
  } = {}
): Promise<ReadonlyArray<string>> => {
  wantDestination("writeXlsx", destination)
  wantOptions(options)
  wantNames("writeXlsx", "columns", options.columns)
  const [{ withFilesFor }, module] = await Promise.all([
    import("./Files.js"),
    import("../transfer/Export.js")
  ])
  options.signal?.throwIfAborted()
  const exit = await Effect.runPromiseExit(
    withFilesFor(destination, module.writeXlsx(destination, documents, options)),
    options.signal === undefined ? {} : { signal: options.signal }
  )
  if (Exit.isSuccess(exit)) return exit.value
  options.signal?.throwIfAborted()
  throw Cause.squash(exit.cause)
}
