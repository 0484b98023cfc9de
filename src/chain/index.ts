/**
 * Chains of responsibility. The type of a chain shows whether a request can go unhandled.
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
 * The log entries of `useLogging`, and where they are written.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Logging from "./Logging.js"
/**
 * Policies for handlers: a time limit, retries, a response in place of a failure.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Policy from "./Policy.js"
export type { StepOutcome, Trace, TracedStep } from "./Trace.js"
/**
 * The name and attributes of an execution's span.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Tracing from "./Tracing.js"
export * from "./UnhandledRequestError.js"
