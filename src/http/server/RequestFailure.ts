import { HttpServerError } from "@effect/platform"
import { Cause, Effect, type Fiber, Runtime } from "effect"
import * as ErrorReply from "./ErrorReply.js"
import type { Exchange } from "./Exchange.js"
import * as HttpError from "./HttpError.js"

/** Sends the error reply of a failed request. */
export type FailWith = (exchange: Exchange, cause: Cause.Cause<unknown>) => void

/** Creates the function that replies to failures. It logs unexpected causes with the runtime. */
export const make = (runtime: Runtime.Runtime<never>): FailWith => {
  const runFork = Runtime.runFork(runtime)
  const failWith: FailWith = (exchange, cause) => {
    const error = ErrorReply.fromCause(cause)
    if (error !== undefined) {
      try {
        exchange.fail(error)
      } catch (defect) {
        // The error has headers that Node refuses to send.
        failWith(exchange, Cause.die(defect))
      }
    } else if (Cause.isInterruptedOnly(cause)) {
      exchange.abort()
    } else {
      runFork(Effect.annotateLogs(Effect.logError("Request failed", cause), { requestId: exchange.id }))
      exchange.fail(ErrorReply.internal(exchange.id))
    }
  }
  return failWith
}

/** The error of a request that exceeded the time limit. */
export const timedOut = (millis: number) =>
  new HttpError.ServiceUnavailable({ message: `The request took longer than ${millis} ms.` })

/** Interrupts the request's fiber when its connection closes before the reply is complete. */
export const interruptOnClose = (exchange: Exchange, fiber: Fiber.RuntimeFiber<unknown, unknown>) => {
  const stop = () => fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
  exchange.interrupt = stop
  exchange.response.on("close", () => {
    if (!exchange.response.writableFinished) stop()
  })
}
