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

/** Fails for a token among the arguments. The message does not contain the token. */
export const tokenArgumentError = Effect.suspend(() =>
  Effect.fail(
    new ValidationError({
      operation: "--token",
      message: "a token must not be an argument: the shell's history and other processes could read it",
      hint: "give --token without a value, after the other arguments, or set CHAINSTORE_TOKEN"
    })
  )
)
