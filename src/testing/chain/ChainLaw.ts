import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Chain, ChainBuilder, type Logging } from "../../chain/index.js"
import type { LawViolation } from "./ChainOutcome.js"

/** Chains that need nothing and answer equal requests equally. */
export type LawSubject = ChainBuilder<any, any, any, never, any>

/**
 * A statement about every such chain and request.
 *
 * @since 0.1.0
 * @category models
 */
export type Law = (builder: LawSubject, request: any) => Effect.Effect<void, LawViolation>

/** A step with `next` that needs no services. */
export type StepWithNext = (
  request: any,
  next: (request: any) => Effect.Effect<any, any>
) => Effect.Effect<any, any>

/** An empty builder. */
export const emptyBuilder = (name = "law"): LawSubject => ChainBuilder.make<any, any>(name)

/** A thrown or raised value that no chain of a user has. */
export class SentinelError extends Error {
  override readonly name = "Broken"
}

type AnyChain = Chain.Chain<any, any, any, never, any>

const synchronous = (chain: AnyChain, request: unknown): Exit.Exit<unknown, unknown> => {
  try {
    return Exit.succeed(Chain.executeSync(chain, request))
  } catch (error) {
    return Exit.fail(error)
  }
}

/** Every way to execute that gives the answer, by the name that a caller writes. */
export const executionModes: Readonly<
  Record<string, (chain: AnyChain, request: unknown) => Effect.Effect<Exit.Exit<unknown, unknown>>>
> = {
  execute: (chain, request) => Effect.exit(Chain.execute(chain, request)),
  executeNamed: (chain, request) =>
    Effect.exit(Effect.map(Chain.executeNamed(chain, request), ({ response }) => response)),
  trace: (chain, request) => Effect.map(Chain.trace(chain, request), ({ exit }) => exit),
  executeExit: (chain, request) => Effect.sync(() => Chain.executeExit(chain, request)),
  executeNamedExit: (chain, request) =>
    Effect.sync(() => Exit.map(Chain.executeNamedExit(chain, request), ({ response }) => response)),
  executeSync: (chain, request) => Effect.sync(() => synchronous(chain, request))
}

/** An exit as an entry gives it: `executeSync` throws failures and defects alike. */
export const exitOf = (entry: string, exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> =>
  entry === "executeSync" && Exit.isFailure(exit) ? Exit.fail(Cause.squash(exit.cause)) : exit

/** The options of `useLogging` that write entries, by their name. */
export const writers: Record<string, (write: (entry: Logging.LogEntry) => void) => any> = {
  write: (write) => ({ write }),
  log: (write) => ({ log: (entry: Logging.LogEntry) => Effect.sync(() => write(entry)) })
}

/** Whether a synchronous entry met a step that has to wait. */
export const metAsyncStep = (exit: Exit.Exit<unknown, unknown>): boolean => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return typeof error === "object" && error !== null && "_tag" in error && error._tag === "AsyncStepError"
}
