import * as Data from "effect/Data"

/**
 * No step accepted the request and the chain has no fallback. It never carries the request itself.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnhandledRequestError extends Data.TaggedError("UnhandledRequestError")<{
  /** The name of the chain. */
  readonly chain: string
}> {
  override get message() {
    return "No handler in the chain handled the request."
  }
}
