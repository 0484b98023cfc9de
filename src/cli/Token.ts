import { Prompt } from "@effect/cli"
import { Effect } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"

/** Asks for a token on the terminal without showing it. */
export const askToken = Prompt.hidden({
  message: "Token",
  validate: (text) => (text.trim() === "" ? Effect.fail("a token is needed") : Effect.succeed(text.trim()))
})

/** Whether the arguments may contain a token: `--token` with a value, or an operand after it. */
export const containsToken = (arguments_: ReadonlyArray<string>): boolean => {
  const end = arguments_.indexOf("--")
  return (end === -1 ? arguments_ : arguments_.slice(0, end)).some((argument, index, all) => {
    if (!/^--?token(=|$)/i.test(argument)) return false
    const next = all[index + 1]
    return argument.includes("=") || (next !== undefined && !next.startsWith("-"))
  })
}

/** The error, which does not repeat the token. */
export const tokenArgumentError = Effect.suspend(() =>
  Effect.fail(
    new ValidationError({
      operation: "--token",
      message: "a token must not be an argument: the shell's history and other processes could read it",
      hint: "--token alone, after the other arguments, asks for it; CHAINSTORE_TOKEN holds it"
    })
  )
)
