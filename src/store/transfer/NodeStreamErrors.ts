/**
 * Adds an error listener to a Node stream. Modules and settings are loaded before the stream is read, and an `error`
 * event without a listener would end the process in between. The stream keeps its error for the later reader.
 */
export const withErrorListener = <S>(source: S): S => {
  if (isNodeStream(source)) source.on("error", () => undefined)
  return source
}

const isNodeStream = (
  source: unknown
): source is { readonly on: (event: string, listener: () => void) => unknown } =>
  typeof source === "object" &&
  source !== null &&
  "pipe" in source &&
  "on" in source &&
  typeof source.on === "function"
