import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { ExecutionResult } from "../../domain/ChainExecution.js"
import { ErrorBody } from "../../domain/ErrorBody.js"
import { offline, type Problem, server } from "../Problem.js"
import type { Ran } from "./Compose.js"

/** Runs a body at the service; what it refuses is a result too. */
export const execute = (path: string, body: unknown): Effect.Effect<Omit<Ran, "steps">, Problem> =>
  Effect.gen(function* () {
    const { status, text } = yield* Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(path, {
          method: "POST",
          signal,
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body)
        })
        return { status: response.status, text: await response.text() }
      },
      catch: () => offline("The service did not answer.")
    })
    const json = Either.getOrUndefined(Either.try(() => JSON.parse(text) as unknown))
    const decoded = Schema.decodeUnknownEither(Schema.Union(ExecutionResult, ErrorBody))(json)
    return Either.isRight(decoded)
      ? { status, body: decoded.right }
      : yield* server(`The service answered ${status} with something else than it promises.`)
  })
