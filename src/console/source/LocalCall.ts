import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Endpoint } from "../../domain/http/Endpoint.js"
import type { Problem } from "../components/Problem.js"
import { otherVersion, request } from "./LocalRequest.js"

/** Calls an endpoint with its payload. */
export type Call = <P, A>(endpoint: Endpoint<string, P, A>, payload: P) => Effect.Effect<A, Problem>

/** Calls an endpoint of the local server. */
export const call: Call = <P, A>({ body, method, path, reply }: Endpoint<string, P, A>, payload: P) =>
  Effect.gen(function* () {
    const encoded = body === undefined ? {} : yield* Effect.orDie(Schema.encode(body)(payload))
    const json = yield* request(
      method === "GET" ? { method, path } : { method, path, body: JSON.stringify(encoded) }
    )
    return yield* Effect.mapError(Schema.decodeUnknown(reply)(json), otherVersion)
  })
