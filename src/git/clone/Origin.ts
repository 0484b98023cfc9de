import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { Advertisement } from "../protocol/Advertisement.js"
import { ProtocolError } from "../protocol/PktLine.js"
import { LostReply, postForBytes, type ServerFailure, toRemoteError } from "../protocol/Transport.js"
import { encodeLsRefs, type FetchRequest, type ListedRef, parseRefs } from "../protocol/UploadPack.js"
import * as VersionZero from "../protocol/UploadPackV0.js"
import * as OriginFetch from "./OriginFetch.js"
import * as ServerProtocol from "./ServerProtocol.js"

export interface OriginOptions
  extends ServerProtocol.ServerProtocolOptions,
    Omit<OriginFetch.OriginFetchOptions, "protocol"> {}

/** The server that a clone was made from. */
export interface Origin {
  /** The refs whose names begin with one of the prefixes. */
  readonly listRefs: (
    prefixes: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<ListedRef>, ServerFailure>
  /** Fetches objects into the clone. Returns false if the server does not have one of them. */
  readonly fetch: (request: FetchRequest) => Effect.Effect<boolean, ServerFailure>
  /** The advertisement of `receive-pack`, requested once. */
  readonly receivePack: Effect.Effect<Advertisement, ServerFailure>
  /** Whether `receivePack` was requested before. Its refs are as of that request. */
  readonly hasReceivePack: () => boolean
  /** Requests the advertisement of `receive-pack` again: some servers accept a push only after that. */
  readonly requestReceivePack: Effect.Effect<void, ServerFailure>
}

const operation = "GitHost.fetch"

export const make = (options: OriginOptions): Effect.Effect<Origin> =>
  Effect.gen(function* () {
    const { agent, transport, url } = options
    const protocol = yield* ServerProtocol.make(options)
    const fetch = OriginFetch.make({ ...options, protocol })
    let hasReceivePack = false

    /** The reason why a clone of the server cannot work, as far as its capabilities tell. */
    const unsupported: Effect.Effect<Option.Option<RemoteError>> = protocol.uploadPack.pipe(
      Effect.map(({ capabilities }) => {
        const format = capabilities.get("object-format") ?? "sha1"
        return format === "sha1"
          ? Option.none()
          : Option.some(
              new RemoteError({
                operation,
                reason: "Unsupported",
                path: url,
                message: `the server names its objects by ${format}, not by sha1`
              })
            )
      }),
      Effect.orElseSucceed(() => Option.none())
    )

    const withUnsupported = <A>(effect: Effect.Effect<A, ServerFailure>): Effect.Effect<A, ServerFailure> =>
      Effect.catchTag(effect, "RemoteError", (error) =>
        error.reason === "Server" || error.reason === "Corrupt"
          ? Effect.flatMap(unsupported, (reason) => Option.getOrElse(reason, () => error))
          : Effect.fail(error)
      )

    const toServerFailure = <A>(
      effect: Effect.Effect<A, ServerProtocol.RequestFailure>
    ): Effect.Effect<A, ServerFailure> =>
      Effect.mapError(effect, (error) =>
        error instanceof ProtocolError ? toRemoteError(operation, url, error) : error
      )

    const listByVersionTwo = (prefixes: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        const list = Effect.flatMap(
          postForBytes(transport, url, "git-upload-pack", encodeLsRefs(agent, prefixes)),
          (bytes) => ServerProtocol.parsed(() => parseRefs(bytes))
        )
        if (protocol.speaksVersionTwo()) return protocol.retrying(list)
        // A server of version 0 may not reply to a request of version 2 at all. Its advertisement tells the version sooner than
        // repeated requests.
        return Effect.catchIf(
          list,
          (error) => error instanceof LostReply,
          (error) =>
            Effect.flatMap(protocol.probeVersionZero, (advertised) =>
              Option.isSome(advertised)
                ? Effect.fail<ServerProtocol.RequestFailure | LostReply>(error)
                : protocol.retrying(list)
            )
        ).pipe(Effect.mapError(ServerProtocol.withoutLostReply))
      })

    const listByVersionZero = Effect.map(protocol.refreshVersionZero, VersionZero.listRefs)

    const requestReceivePack = toServerFailure(protocol.retrying(protocol.advertisement("git-receive-pack")))
    const [receivePack, invalidate] = yield* Effect.cachedInvalidateWithTTL(requestReceivePack, "365 days")

    return {
      listRefs: (prefixes) =>
        withUnsupported(
          toServerFailure(protocol.withVersion(listByVersionTwo(prefixes), () => listByVersionZero))
        ).pipe(
          Effect.map((refs) => refs.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix))))
        ),
      fetch: (request) => toServerFailure(fetch(request)),
      receivePack: Effect.suspend(() => {
        hasReceivePack = true
        return Effect.tapError(receivePack, () => invalidate)
      }),
      hasReceivePack: () => hasReceivePack,
      requestReceivePack: Effect.asVoid(requestReceivePack)
    }
  })
