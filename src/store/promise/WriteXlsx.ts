import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type { JsonObject } from "../../domain/Document.js"
import { fromRecords } from "../transfer/Records.js"
import type { SignalOptions } from "./Runner.js"

/** Writes documents as the one sheet of a workbook: to a file's path (on Node) or a web stream. Answers the columns. */
export const writeXlsx = async (
  destination: string | WritableStream<Uint8Array>,
  documents: Iterable<JsonObject> | AsyncIterable<JsonObject>,
  options: SignalOptions & {
    readonly columns?: ReadonlyArray<string> | undefined
    readonly sheetName?: string | undefined
  } = {}
): Promise<ReadonlyArray<string>> => {
  const [{ withFilesFor }, module] = await Promise.all([
    import("./Files.js"),
    import("../transfer/Export.js")
  ])
  options.signal?.throwIfAborted()
  const given = fromRecords(documents) as Stream.Stream<JsonObject, unknown>
  const exit = await Effect.runPromiseExit(
    withFilesFor(destination, module.writeXlsx(destination, Stream.rechunk(given, 256), options)),
    options.signal === undefined ? {} : { signal: options.signal }
  )
  if (Exit.isSuccess(exit)) return exit.value
  options.signal?.throwIfAborted()
  throw Cause.squash(exit.cause)
}
