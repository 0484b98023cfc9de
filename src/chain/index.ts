/**
 * Chains of responsibility whose type tells whether a request can go unhandled.
 *
 * @module chainstore/chain
 * @since 0.1.0
 */

export type { DurationInput } from "../domain/time/DurationInput.js"
export * from "./AsyncStepError.js"
/**
 * Built chains: executing, describing, tracing and wrapping them.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Chain from "./Chain.js"
export { ChainBuilder } from "./ChainBuilder.js"
export type * from "./ChainDescription.js"
export type * from "./Handler.js"
/**
 * What `useLogging` writes, and where.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Logging from "./Logging.js"
/**
 * What happens around a handler: a time limit, retries, an answer in place of a failure.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Policy from "./Policy.js"
export type { StepOutcome, Trace, TracedStep } from "./Trace.js"
/**
 * What the span of an execution is called and carries.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Tracing from "./Tracing.js"
export * from "./UnhandledRequestError.js"
