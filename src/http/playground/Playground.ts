import { Context, Effect, Layer } from "effect"
import { Chain, type UnhandledRequestError } from "../../chain/index.js"
import type { ChainDescription } from "../../domain/playground/ChainDescription.js"
import type { ChainExecutionRequest, ExecutionResult } from "../../domain/playground/ChainExecution.js"
import { type LanguageList, otherPorts } from "../../domain/playground/Language.js"
import type { Ticket } from "../../domain/playground/Ticket.js"
import { LruCache } from "../../domain/runtime/LruCache.js"
import { frozen } from "../server/Direct.js"
import { executeAdHoc, run } from "./Composition.js"
import * as Triage from "./Triage.js"

/**
 * The service behind the playground's operations.
 *
 * @since 0.1.0
 * @category services
 */
export class Playground extends Context.Tag("http/Playground")<
  Playground,
  {
    /** Lists the language ports. `origin` is the service's base URL, for the link to its documentation. */
    readonly languages: (origin: string) => Effect.Effect<LanguageList>
    readonly describeTicketTriage: Effect.Effect<ChainDescription>
    readonly executeTicketTriage: (ticket: Ticket) => Effect.Effect<ExecutionResult>
    readonly executeChain: (
      request: ChainExecutionRequest
    ) => Effect.Effect<ExecutionResult, UnhandledRequestError>
  }
>() {}

/**
 * The name of this package in the list of language ports.
 *
 * @since 0.1.0
 * @category models
 */
export interface Package {
  /** The name to import. */
  readonly name: string
  /** The argument of `npm install`. */
  readonly install: string
}

/**
 * The playground with the chain library of this package.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (own: Package): Layer.Layer<Playground> =>
  Layer.sync(Playground, () => {
    const triage = frozen(Chain.describe(Triage.compose(() => {})))
    return {
      languages: languagesOf(own),
      describeTicketTriage: Effect.succeed(triage),
      executeTicketTriage: (ticket) => run(Triage.compose, ticket),
      executeChain: executeAdHoc
    }
  })

const languagesOf = (own: Package) => {
  // A frozen list is encoded once. Clients control the origin with their `Host`, so the cache is bounded.
  const cached = new LruCache<LanguageList>(16)
  return (origin: string) =>
    Effect.sync(() => {
      const found = cached.get(origin)
      if (found !== undefined) return found
      const list = frozen({
        languages: [
          ...otherPorts,
          {
            language: "TypeScript (Effect)",
            package: own.name,
            install: own.install,
            documentation: `${origin}/docs`
          }
        ]
      })
      return cached.set(origin, list)
    })
}
