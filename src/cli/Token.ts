import { Prompt } from "@effect/cli"
import { Effect } from "effect"

/** Asks for a token on the terminal without showing it. */
export const askToken = Prompt.hidden({
  message: "Token",
  validate: (text) => (text.trim() === "" ? Effect.fail("a token is needed") : Effect.succeed(text.trim()))
})
