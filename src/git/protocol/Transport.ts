import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import {
  type AuthError,
  type NotFoundError,
  type RateLimitError,
  RemoteError
} from "../../domain/errors/StoreError.js"
import { joined, ProtocolError } from "./PktLine.js"

/** Why a Git server did not answer. */
export type ServerFailure = AuthError | NotFoundError | RateLimitError | RemoteError

/** A request whose response did not come. */
export class LostReply {
  readonly _tag = "LostReply"
  constructor(
    readonly failure: RemoteError,
    /** Whether the request may have reached the server. */
    readonly isSent = true
  ) {}
}

export type Service = "git-upload-pack" | "git-receive-pack"

export type TransportFailure = ServerFailure | LostReply

/** Carries requests to one repository of a Git server: smart HTTP (gitprotocol-http(5)) or SSH. */
export interface Transport {
  /** What a service says of itself and its refs before any request. */
  readonly advertisement: (service: Service) => Effect.Effect<Uint8Array, TransportFailure>
  /** One request of a service; the response as it comes. */
  readonly post: (service: Service, body: Uint8Array) => Stream.Stream<Uint8Array, TransportFailure>
}

/** Bytes of a response that is read as a whole. */
const mostAnswer = 64 * 1024 * 1024

/** A response as a whole; one above 64 MiB is refused. */
export const whole = (
  url: string,
  service: Service,
  response: Stream.Stream<Uint8Array, TransportFailure>
): Effect.Effect<Uint8Array, TransportFailure> =>
  Effect.suspend(() => {
    const tooLong = new RemoteError({
      operation: "GitHost.request",
      reason: "Denied",
      path: url,
      message: `${url} answers more than 64 MiB`
    })
    const parts: Array<Uint8Array> = []
    let size = 0
    return Effect.map(
      Stream.runForEach(response, (part) => {
        parts.push(part)
        size += part.length
        if (size <= mostAnswer) return Effect.void
        // The push may have taken effect.
        return Effect.fail(service === "git-receive-pack" ? new LostReply(tooLong) : tooLong)
      }),
      () => joined(parts)
    )
  })

/** One request of a service with the response as a whole. */
export const ask = (
  transport: Transport,
  url: string,
  service: Service,
  body: Uint8Array
): Effect.Effect<Uint8Array, TransportFailure> => whole(url, service, transport.post(service, body))

/** The error for a response that is not Git's protocol, or in which the server refuses. */
export const translated = (operation: string, url: string, error: unknown): RemoteError =>
  error instanceof ProtocolError
    ? new RemoteError({
        operation,
        reason: error.kind === "refused" ? "Server" : "Corrupt",
        path: url,
        message:
          error.kind === "refused"
            ? `the Git server refused the request: ${error.message}`
            : `the Git server did not answer as Git does: ${error.message}`,
        cause: error
      })
    : new RemoteError({ operation, reason: "Server", path: url, message: String(error), cause: error })
