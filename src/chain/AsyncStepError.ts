import * as Data from "effect/Data"

/**
 * The chain was executed synchronously, but a step had to wait.
 *
 * @since 0.1.0
 * @category errors
 */
export class AsyncStepError extends Data.TaggedError("AsyncStepError")<{ readonly chain: string }> {
  override get message() {
    return `A step of chain "${this.chain}" has to wait: use Chain.execute and run the Effect instead of executing synchronously.`
  }
}
