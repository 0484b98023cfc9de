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
 * What the playground's operations do; another layer may do it differently.
 *
 * @since 0.1.0
 * @category services
 */
export class Playground extends Context.Tag("http/Playground")<
  Playground,
  {
    /** The language ports; `origin` is the service's own address, for the link to its documentation. */
    readonly languages: (origin: string) => Effect.Effect<LanguageList>
    readonly describeTicketTriage: Effect.Effect<ChainDescription>
    readonly executeTicketTriage: (ticket: Ticket) => Effect.Effect<ExecutionResult>
    readonly executeChain: (
      request: ChainExecutionRequest
    ) => Effect.Effect<ExecutionResult, UnhandledRequestError>
  }
>() {}

/**
 * How this package is named and installed, for its own entry among the languages.
 *
 * @since 0.1.0
 * @category models
 */
export interface Package {
  /** The name that programs import. */
  readonly name: string
  /** What `npm install` is given. */
  readonly install: string
}

/**
 * The playground over our own chain library.
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
  // What is frozen is encoded once; a client chooses the origin by its Host, so only the last few are kept.
  const known = new LruCache<LanguageList>(16)
  return (origin: string) =>
    Effect.sync(() => {
      const found = known.get(origin)
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
      return known.set(origin, list)
    })
}
