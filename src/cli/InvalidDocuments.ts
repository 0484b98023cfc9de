import { Options } from "@effect/cli"
import { Effect } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"
import type { OnInvalid } from "../store/Collection.js"
import { CommandOutput } from "./CommandOutput.js"

export const onInvalidOption = Options.choice("on-invalid", ["fail", "skip"]).pipe(
  Options.withDescription("A document that cannot be read ends the command, or is named and left out"),
  Options.withDefault("fail" as const)
)

/** The error of a document, with the option that leaves it out. */
const withOption = <E>(error: E) =>
  error instanceof ValidationError && error.path !== undefined
    ? new ValidationError({
        ...error,
        message: error.message,
        hint: `${error.hint === undefined ? "" : `${error.hint}; `}--on-invalid skip leaves it out`
      })
    : error

/**
 * Runs a read. With `skip` the documents that cannot be read are named on standard error, and their number follows at the
 * end.
 */
export const withInvalid = <A, E, R>(
  choice: "fail" | "skip",
  body: (onInvalid: OnInvalid) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    if (choice === "fail") return yield* Effect.mapError(body("fail"), withOption)
    const { writeMessage } = yield* CommandOutput
    let skipped = 0
    const note = (_id: string, { message }: ValidationError) =>
      Effect.suspend(() => {
        skipped++
        return writeMessage(`skipped: ${message}\n`)
      })
    const result = yield* body(note)
    if (skipped > 0) yield* writeMessage(`${skipped} document${skipped === 1 ? "" : "s"} skipped\n`)
    return result
  })
