import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import {
  type AuthError,
  type NotFoundError,
  type RateLimitError,
  RemoteError
} from "../../domain/errors/StoreError.js"
import { concatBytes, ProtocolError } from "./PktLine.js"

/** The failure of a request to a Git server. */
export type ServerFailure = AuthError | NotFoundError | RateLimitError | RemoteError

/** The response to a request was lost. */
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

/** Sends requests to one repository of a Git server by smart HTTP (gitprotocol-http(5)) or SSH. */
export interface Transport {
  /** Requests the advertisement of a service: its capabilities and refs. */
  readonly advertisement: (service: Service) => Effect.Effect<Uint8Array, TransportFailure>
  /** Sends one request to a service, and streams the response. */
  readonly post: (service: Service, body: Uint8Array) => Stream.Stream<Uint8Array, TransportFailure>
}

/** The largest size of a response that is read into memory, in bytes. */
const maxResponse = 64 * 1024 * 1024

/** Reads a response into memory. Fails if it has more than 64 MiB. */
export const collectResponse = (
  url: string,
  service: Service,
  response: Stream.Stream<Uint8Array, TransportFailure>
): Effect.Effect<Uint8Array, TransportFailure> =>
  Effect.suspend(() => {
    const tooLong = new RemoteError({
      operation: "GitHost.request",
      reason: "Denied",
      path: url,
      message: `${url} sent a response of more than 64 MiB`
    })
    const parts: Array<Uint8Array> = []
    let size = 0
    return Effect.map(
      Stream.runForEach(response, (part) => {
        parts.push(part)
        size += part.length
        if (size <= maxResponse) return Effect.void
        // The push may have taken effect.
        return Effect.fail(service === "git-receive-pack" ? new LostReply(tooLong) : tooLong)
      }),
      () => concatBytes(parts)
    )
  })

/** Sends one request to a service, and reads the response into memory. */
export const postForBytes = (
  transport: Transport,
  url: string,
  service: Service,
  body: Uint8Array
): Effect.Effect<Uint8Array, TransportFailure> => collectResponse(url, service, transport.post(service, body))

const reasons = {
  refused: "Server",
  unsupported: "Unsupported",
  malformed: "Corrupt",
  large: "Corrupt"
} as const

const messageOf = ({ kind, message }: ProtocolError) =>
  kind === "unsupported"
    ? message
    : kind === "refused"
      ? `the Git server refused the request: ${message}`
      : `the response of the Git server is not of Git's protocol: ${message}`

/** Translates a `ProtocolError`. */
export const toRemoteError = (operation: string, url: string, error: unknown): RemoteError =>
  error instanceof ProtocolError
    ? new RemoteError({
        operation,
        reason: reasons[error.kind],
        path: url,
        message: messageOf(error),
        cause: error
      })
    : new RemoteError({ operation, reason: "Server", path: url, message: String(error), cause: error })
