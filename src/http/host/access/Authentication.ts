import type { HttpServerRequest } from "@effect/platform"
import { Option } from "effect"
import * as ClientAddress from "../../server/ClientAddress.js"
import { LoginThrottle } from "../../server/LoginThrottle.js"
import { badCredentials, type HostError, tooManyFailedLogins } from "../reply/HostError.js"
import { anonymous, type Principal } from "./Principal.js"
import * as Tokens from "./Tokens.js"

/** Returns the principal of a request, or the error of an invalid token or of too many of them from one address. */
export type Authenticate = (request: HttpServerRequest.HttpServerRequest) => Principal | HostError

/** Authenticates requests by their `Authorization` header. Allows 100 invalid tokens per address and minute. */
export const make = (tokens: typeof Tokens.Tokens.Service, publicUrl: string | undefined): Authenticate => {
  const throttle = new LoginThrottle({ maxFailures: 100, windowMillis: 60_000 })
  return (request) => {
    const header = request.headers["authorization"]
    if (header === undefined || header.trim() === "") return anonymous
    const client = ClientAddress.fromRequest(request, publicUrl)
    const principal = Option.getOrUndefined(Option.flatMap(Tokens.fromHeader(header), tokens.principal))
    const seconds = throttle.retryAfter(client, principal?.id ?? "", performance.now())
    if (seconds > 0) return tooManyFailedLogins(seconds)
    if (principal === undefined) {
      throttle.recordFailure(client, performance.now())
      return badCredentials
    }
    throttle.recordSuccess(client, principal.id)
    return principal
  }
}
