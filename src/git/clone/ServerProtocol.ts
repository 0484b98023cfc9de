import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { makeSharedCalls } from "../../domain/concurrency/SharedCalls.js"
import { RemoteError } from "../../domain/errors/StoreError.js"
import { type Advertisement, parseAdvertisement } from "../protocol/Advertisement.js"
import { ProtocolError } from "../protocol/PktLine.js"
import { LostReply, type ServerFailure, type Service, type Transport } from "../protocol/Transport.js"
import * as VersionZero from "../protocol/UploadPackV0.js"

/** A failure of a request, or a response that is not of Git's protocol. */
export type RequestFailure = ServerFailure | ProtocolError

export interface ServerProtocolOptions {
  readonly url: string
  readonly transport: Transport
  /** The number of times a read is repeated after a broken connection. */
  readonly maxRetries: number
  /** Whether blobs are left out of fetches. */
  readonly filter: boolean
}

export type ServerProtocol = Effect.Effect.Success<ReturnType<typeof make>>

/** Runs a parser that throws a `ProtocolError`. */
export const parsed = <A>(parse: () => A): Effect.Effect<A, ProtocolError> =>
  Effect.try({ try: parse, catch: (error) => error as ProtocolError })

/** Whether the server refused the request itself, as opposed to the credentials or a broken connection. */
export const isRefusal = (error: RequestFailure): boolean =>
  error instanceof ProtocolError || (error._tag === "RemoteError" && error.reason === "Server")

const isUnreachable = (error: RequestFailure): boolean =>
  error instanceof RemoteError && (error.reason === "Unreachable" || error.reason === "Timeout")

export const withoutLostReply = (error: RequestFailure | LostReply): RequestFailure =>
  error instanceof LostReply ? error.failure : error

/** After this time without a reply to the first request of version 2, the server is also asked for its version. */
const lateReply = Duration.seconds(3)

/** The protocol version and the filter support of one server, detected by its responses. */
export const make = ({ filter, maxRetries, transport, url }: ServerProtocolOptions) =>
  Effect.gen(function* () {
    /** The last advertisement of a server that does not speak version 2. */
    const versionZero = yield* Ref.make<Option.Option<Advertisement>>(Option.none())
    const filters = yield* Ref.make(filter)

    /** Repeats a read after a broken connection. */
    const retrying = <A>(
      effect: Effect.Effect<A, RequestFailure | LostReply>
    ): Effect.Effect<A, RequestFailure> =>
      effect.pipe(
        Effect.retry({
          times: maxRetries,
          schedule: Schedule.jittered(Schedule.exponential("200 millis")),
          while: (error) => error instanceof LostReply
        }),
        Effect.mapError(withoutLostReply)
      )

    const advertisement = (service: Service) =>
      Effect.flatMap(transport.advertisement(service), (bytes) =>
        parsed(() => parseAdvertisement(bytes, service))
      )

    const uploadPack = advertisement("git-upload-pack")
    const sharedUploadPack = makeSharedCalls<Advertisement, RequestFailure | LostReply>()

    /** Stops the use of filters. */
    const disableFilters = Effect.zipRight(
      Effect.logInfo(`${url} does not support filters: a fetch transfers whole commits`),
      Ref.set(filters, false)
    )

    /** Records the advertisement of a server that does not speak version 2. */
    const useVersionZero = (advertised: Advertisement) =>
      Effect.flatMap(Ref.getAndSet(versionZero, Option.some(advertised)), (before) =>
        Option.isSome(before)
          ? Effect.succeed(advertised)
          : Effect.logInfo(
              `${url} speaks version ${advertised.version} of Git's protocol: each lookup lists all refs`
            ).pipe(
              Effect.zipRight(VersionZero.canFilter(advertised) ? Effect.void : disableFilters),
              Effect.as(advertised)
            )
      )

    /** Whether the server has replied to a request of version 2. */
    let speaksVersionTwo = false

    const versionMutex = yield* Effect.makeSemaphore(1)
    let probed: Option.Option<Advertisement> = Option.none()
    /** The number of probes that have ended. */
    let probes = 0

    /**
     * The advertisement of a server that does not speak version 2; none if it does, or does not reply. Concurrent callers
     * share one request, even if it fails.
     */
    const probeVersionZero = Effect.suspend(() => {
      const before = probes
      return Effect.suspend(() =>
        Option.isSome(probed) || speaksVersionTwo || probes !== before
          ? Effect.void
          : Effect.map(Effect.option(uploadPack), (advertised) => {
              probed = advertised
              probes++
            })
      ).pipe(
        versionMutex.withPermits(1),
        Effect.map(() => Option.filter(probed, ({ version }) => version !== 2))
      )
    })

    /** The advertisement of a server whose reply is late and that does not speak version 2. */
    const lateVersionZero = Effect.flatMap(
      Effect.delay(probeVersionZero, lateReply),
      Option.match({ onNone: () => Effect.never, onSome: Effect.succeed })
    )

    /** Runs the first request of version 2. Left if the server turns out not to speak version 2 before it replies. */
    const firstByVersionTwo = <A>(
      two: Effect.Effect<A, RequestFailure>
    ): Effect.Effect<Either.Either<A, Advertisement>, RequestFailure> =>
      Effect.raceFirst(
        Effect.map(two, (result) => {
          speaksVersionTwo = true
          return Either.right(result)
        }),
        Effect.map(lateVersionZero, Either.left)
      )

    /**
     * Runs `two`. If the server refuses it or does not reply, and turns out not to speak version 2, runs `zero` from then on.
     */
    const withVersion = <A>(
      two: Effect.Effect<A, RequestFailure>,
      zero: (advertised: Advertisement) => Effect.Effect<A, RequestFailure>
    ): Effect.Effect<A, RequestFailure> =>
      Effect.flatMap(
        Ref.get(versionZero),
        Option.match({
          onSome: zero,
          onNone: () =>
            Effect.matchEffect(speaksVersionTwo ? Effect.map(two, Either.right) : firstByVersionTwo(two), {
              onSuccess: Either.match({
                onLeft: (advertised) => Effect.flatMap(useVersionZero(advertised), zero),
                onRight: (result) => Effect.succeed(result)
              }),
              onFailure: (error) =>
                isRefusal(error) || isUnreachable(error)
                  ? Effect.flatMap(
                      probeVersionZero,
                      Option.match({
                        onNone: () => Effect.fail(error),
                        onSome: (advertised) => Effect.flatMap(useVersionZero(advertised), zero)
                      })
                    )
                  : Effect.fail(error)
            })
        })
      )

    return {
      retrying,
      advertisement,
      /** The advertisement of `upload-pack`. */
      uploadPack,
      withVersion,
      probeVersionZero,
      speaksVersionTwo: () => speaksVersionTwo,
      /** Requests the current advertisement of a server that does not speak version 2. */
      refreshVersionZero: Effect.flatMap(retrying(uploadPack), useVersionZero),
      usesFilters: Ref.get(filters),
      disableFilters,
      /** Whether a server of version 2 advertises filters; true if it speaks another version, or if that cannot be found out. */
      offersFilters: Effect.flatMap(
        probeVersionZero,
        Option.match({
          onSome: () => Effect.succeed(true),
          onNone: () =>
            Option.getOrElse(Option.map(probed, Effect.succeed), () =>
              sharedUploadPack("git-upload-pack", uploadPack)
            ).pipe(
              Effect.map(({ capabilities }) =>
                (capabilities.get("fetch") ?? "").split(" ").includes("filter")
              ),
              Effect.orElseSucceed(() => true)
            )
        })
      )
    } as const
  })
