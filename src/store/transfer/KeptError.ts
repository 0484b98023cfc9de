/**
 * A source that is read later. A Node stream that fails before anybody listens ends the process, and modules are loaded and
 * settings read before a source is: from here on its error is kept for whoever reads it.
 */
export const keepingError = <S>(source: S): S => {
  if (isEmitter(source)) source.on("error", () => undefined)
  return source
}

const isEmitter = (
  source: unknown
): source is { readonly on: (event: string, listener: () => void) => unknown } =>
  typeof source === "object" &&
  source !== null &&
  "pipe" in source &&
  "on" in source &&
  typeof source.on === "function"
