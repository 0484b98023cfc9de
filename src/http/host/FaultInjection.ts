import type { HttpServerRequest } from "@effect/platform"
import { type Context, Effect } from "effect"
import { Problem } from "./reply/Problem.js"
import type { Fault, Faults } from "./repository/Faults.js"
import type { Answer } from "./request/Route.js"

const hang = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.suspend(() => {
    const { source } = request
    const socket =
      typeof source === "object" && source !== null && "socket" in source
        ? (source.socket as { resetAndDestroy?: () => void; destroy?: () => void })
        : undefined
    if (socket?.resetAndDestroy !== undefined) socket.resetAndDestroy()
    else socket?.destroy?.()
    return socket === undefined ? Effect.interrupt : Effect.never
  })

/** A reply, with a fault injected. */
export const inject = (
  faults: Context.Tag.Service<typeof Faults>,
  fault: Fault,
  request: HttpServerRequest.HttpServerRequest,
  answer: Answer
): Answer => {
  switch (fault._tag) {
    case "Latency":
      return Effect.delay(answer, fault.millis)
    case "Error": {
      const error = new Problem({ status: fault.status, message: "Server Error" })
      return fault.when === "before" ? Effect.fail(error) : Effect.zipRight(answer, Effect.fail(error))
    }
    case "Reset":
      return fault.when === "before" ? hang(request) : Effect.zipRight(answer, hang(request))
    case "Race":
      return faults.racing(answer)
  }
}
