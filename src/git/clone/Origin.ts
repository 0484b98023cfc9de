import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import { type Advertisement, parseAdvertisement } from "../protocol/Advertisement.js"
import { ProtocolError } from "../protocol/PktLine.js"
import { ask, LostReply, type ServerFailure, type Transport, translated } from "../protocol/Transport.js"
import {
  type FetchReply,
  FetchReplyV2,
  type FetchRequest,
  fetch,
  type ListedRef,
  lsRefs,
  parseRefs
} from "../protocol/UploadPack.js"
import * as VersionZero from "../protocol/UploadPackV0.js"
import type { Shallow } from "./Shallow.js"

export interface OriginOptions {
  readonly url: string
  readonly transport: Transport
  readonly agent: string
  /** Takes what is fetched. */
  readonly ingest: GitRepository["ingest"]
  readonly shallow: Shallow
  /** Whether an object is in the clone. */
  readonly has: (oid: Oid) => Effect.Effect<boolean, RemoteError>
  /** Whether the parents of a commit are in the clone. */
  readonly hasParents: (oid: Oid) => Effect.Effect<boolean, RemoteError>
  /** Repetitions of a read after a broken connection. */
  readonly maxRetries: number
  /** Bytes of one pack that are taken at most. */
  readonly mostPack: number
  /** Whether files are left out where a fetch can do without. */
  readonly filter: boolean
}

/** What a clone asks of the server that it is a clone of. */
export interface Origin {
  readonly refs: (prefixes: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ListedRef>, ServerFailure>
  /** Brings objects into the clone; false where the server has one of them not. */
  readonly fetch: (request: FetchRequest) => Effect.Effect<boolean, ServerFailure>
  /** What the server says of itself to those that push; asked once. */
  readonly receiver: Effect.Effect<Advertisement, ServerFailure>
  /** Whether it has been asked: its refs are those of that time. */
  readonly isIntroduced: () => boolean
  /** Asks it again, for servers that take a push after that alone. */
  readonly introduce: Effect.Effect<void, ServerFailure>
}

const operation = "GitHost.fetch"
/** As deep as any history. */
const everything = 2_147_483_647
/** How often the refs of a server are looked at for one fetch, where they move each time before it is asked for them. */
const mostLooks = 16

/** Bytes of an answer beside its pack: what frames it, and what it says of shallow commits. */
const slack = 4 * 1024 * 1024

const isAbsent = (error: unknown) =>
  error instanceof ProtocolError && /not our ref|no such object/i.test(error.message)

/** Whether a server may have failed at what it was asked, rather than at who asks or on the way. */
const isRefusal = (error: ServerFailure | ProtocolError): boolean =>
  error instanceof ProtocolError || (error._tag === "RemoteError" && error.reason === "Server")

export const make = (options: OriginOptions): Effect.Effect<Origin> =>
  Effect.gen(function* () {
    const { agent, filter, has, hasParents, ingest, maxRetries, mostPack, shallow, transport, url } = options
    /** What a server says of itself that does not speak version 2; none as long as it does. */
    const old = yield* Ref.make<Option.Option<Advertisement>>(Option.none())
    const filters = yield* Ref.make(filter)
    let introduced = false
    /** Whether a request in version 2 was answered. */
    let isUnderstood = false

    const failure = (error: unknown): ServerFailure | ProtocolError =>
      error instanceof LostReply
        ? error.failure
        : error instanceof ProtocolError
          ? error
          : (error as ServerFailure)

    const parsed = <A>(parse: () => A): Effect.Effect<A, ProtocolError> =>
      Effect.try({ try: parse, catch: (error) => error as ProtocolError })

    const sender = Effect.flatMap(transport.advertisement("git-upload-pack"), (bytes) =>
      parsed(() => parseAdvertisement(bytes, "git-upload-pack"))
    )

    const offersFilter = sender.pipe(
      Effect.map(({ capabilities }) => (capabilities.get("fetch") ?? "").split(" ").includes("filter")),
      Effect.orElseSucceed(() => true)
    )

    const fetchWhole = Effect.zipRight(
      Effect.logInfo(`${url} cannot leave out objects of a fetch: whole commits are fetched`),
      Ref.set(filters, false)
    )

    /** Notes what a server says of itself that does not speak version 2. */
    const remember = (told: Advertisement) =>
      Effect.flatMap(Ref.getAndSet(old, Option.some(told)), (before) =>
        Option.isSome(before)
          ? Effect.succeed(told)
          : Effect.logInfo(
              `${url} speaks version ${told.version} of Git's protocol: all refs are read each time`
            ).pipe(Effect.zipRight(VersionZero.canFilter(told) ? Effect.void : fetchWhole), Effect.as(told))
      )

    /** Asks in version 2, and in version 0 a server that proves not to speak it. */
    const speaking = <A>(
      two: Effect.Effect<A, ServerFailure | ProtocolError>,
      zero: (told: Advertisement) => Effect.Effect<A, ServerFailure | ProtocolError>
    ): Effect.Effect<A, ServerFailure | ProtocolError> =>
      Effect.flatMap(
        Ref.get(old),
        Option.match({
          onSome: zero,
          onNone: () =>
            Effect.catchAll(two, (error) =>
              isRefusal(error) ||
              (error instanceof RemoteError && (error.reason === "Unreachable" || error.reason === "Timeout"))
                ? Effect.flatMap(Effect.option(sender), (told) =>
                    Option.isSome(told) && told.value.version !== 2
                      ? Effect.flatMap(remember(told.value), zero)
                      : Effect.fail<ServerFailure | ProtocolError>(error)
                  )
                : Effect.fail(error)
            )
        })
      )

    /** What a server cannot do that a clone needs; none where it can, or does not say. */
    const unsupported: Effect.Effect<Option.Option<RemoteError>> = sender.pipe(
      Effect.map(({ capabilities }) => {
        const format = capabilities.get("object-format") ?? "sha1"
        const lacks = format !== "sha1" ? `names its objects by ${format}, not by sha1` : undefined
        return lacks === undefined
          ? Option.none()
          : Option.some(
              new RemoteError({ operation, reason: "Unsupported", path: url, message: `the server ${lacks}` })
            )
      }),
      Effect.orElseSucceed(() => Option.none())
    )

    /** A failure by what the server says that it can do, where that explains it. */
    const explained = <A>(effect: Effect.Effect<A, ServerFailure>): Effect.Effect<A, ServerFailure> =>
      Effect.catchTag(effect, "RemoteError", (error) =>
        error.reason === "Server" || error.reason === "Corrupt"
          ? Effect.flatMap(unsupported, (told) => Option.getOrElse(told, () => error))
          : Effect.fail(error)
      )

    /** Reads are repeated after what may pass. */
    const reading = <A>(effect: Effect.Effect<A, ServerFailure | LostReply | ProtocolError>) =>
      effect.pipe(
        Effect.retry({
          times: maxRetries,
          schedule: Schedule.jittered(Schedule.exponential("200 millis")),
          while: (error) => error instanceof LostReply
        }),
        Effect.mapError(failure)
      )

    /** What a server says of itself now that does not speak version 2. */
    const look = Effect.flatMap(reading(sender), remember)

    const whole = <A>(
      effect: Effect.Effect<A, ServerFailure | ProtocolError>
    ): Effect.Effect<A, ServerFailure> =>
      Effect.mapError(effect, (error) =>
        error instanceof ProtocolError ? translated(operation, url, error) : error
      )

    const fetchOnce = (
      body: Uint8Array,
      begin: () => FetchReply
    ): Effect.Effect<void, ServerFailure | LostReply | ProtocolError> =>
      Effect.suspend(() => {
        const reply = begin()
        let taken = 0
        const take = (bytes: Uint8Array) => {
          taken += bytes.length
          return taken > mostPack + slack
            ? new RemoteError({
                operation,
                reason: "Denied",
                path: url,
                message: `an answer has more than ${mostPack} bytes`,
                hint: "raise `maxFetch`"
              })
            : parsed(() => reply.push(bytes))
        }
        const pack = transport.post("git-upload-pack", body).pipe(
          Stream.mapEffect(
            (bytes): Effect.Effect<ReadonlyArray<Uint8Array>, ProtocolError | RemoteError> => take(bytes)
          ),
          Stream.flattenIterables,
          // Before the pack is taken for whole.
          Stream.concat(Stream.drain(Stream.fromEffect(Effect.suspend(() => parsed(() => reply.end())))))
        )
        return ingest(pack, mostPack).pipe(
          // A server cuts history by depth alone: where it goes on here, nothing is missing.
          Effect.zipRight(
            Effect.filter(reply.shallow, (oid) => Effect.map(hasParents(oid), (here) => !here))
          ),
          Effect.flatMap((cut) => shallow.update(cut, reply.unshallow))
        )
      })

    const fetchInTwo = (request: FetchRequest): Effect.Effect<boolean, ProtocolError | ServerFailure> =>
      Effect.flatMap(Ref.get(filters), (filtered) =>
        reading(
          fetchOnce(
            fetch(agent, filtered ? request : { ...request, filter: undefined }),
            () => new FetchReplyV2()
          )
        ).pipe(
          Effect.as(true),
          Effect.catchAll((error): Effect.Effect<boolean, ProtocolError | ServerFailure> => {
            if (isAbsent(error)) return Effect.succeed(false)
            if (!filtered || request.filter === undefined || !isRefusal(error)) return Effect.fail(error)
            return Effect.flatMap(offersFilter, (offered) =>
              offered
                ? Effect.fail<ProtocolError | ServerFailure>(error)
                : Effect.zipRight(fetchWhole, fetchInTwo(request))
            )
          })
        )
      )

    const fetchInZero =
      (request: FetchRequest) =>
      (told: Advertisement): Effect.Effect<boolean, ProtocolError | ServerFailure> =>
        Effect.flatMap(Ref.get(filters), (filtered) => {
          const fetched = (one: FetchRequest) =>
            reading(
              fetchOnce(
                VersionZero.fetch(agent, filtered ? one : { ...one, filter: undefined }, told),
                () => new VersionZero.FetchReplyV0(told.capabilities.has("side-band-64k"))
              )
            )
          const areHere = Effect.every(request.wants, has)
          const { depth = everything, filter, haves } = request
          /** Brings what its refs lead to, which may move again between the two questions. */
          const tips = (
            one: Pick<FetchRequest, "depth" | "haves">,
            looks = mostLooks
          ): Effect.Effect<void, ProtocolError | ServerFailure> =>
            Effect.flatMap(look, ({ refs }) => {
              const wants = [...new Set(refs.values())]
              return wants.length === 0
                ? Effect.void
                : Effect.catchIf(
                    fetched({ ...one, wants, shallow: [...shallow.all], filter }),
                    (error) => looks > 1 && isAbsent(error),
                    () => tips(one, looks - 1)
                  )
            })
          return fetched(request).pipe(
            Effect.as(true),
            Effect.catchIf(isAbsent, () =>
              told.capabilities.has("allow-any-sha1-in-want")
                ? areHere
                : // It gives what its refs lead to alone, and they may have moved since it told them.
                  Effect.zipRight(tips({ depth, haves }), areHere).pipe(
                    Effect.flatMap((here) =>
                      here || (depth === everything && haves === undefined)
                        ? Effect.succeed(here)
                        : Effect.zipRight(tips({ depth: everything }), areHere)
                    )
                  )
            )
          )
        })

    const fetchObjects = (request: FetchRequest): Effect.Effect<boolean, ServerFailure> =>
      whole(speaking(fetchInTwo(request), fetchInZero(request)))

    const refsInTwo = (prefixes: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        const asked = Effect.flatMap(
          ask(transport, url, "git-upload-pack", lsRefs(agent, prefixes)),
          (bytes) => parsed(() => parseRefs(bytes))
        )
        if (isUnderstood) return reading(asked)
        const first = Effect.tap(asked, () =>
          Effect.sync(() => {
            isUnderstood = true
          })
        )
        // A server may leave unanswered what it does not understand: it says so sooner than by not answering again.
        return Effect.catchIf(
          first,
          (error) => error instanceof LostReply,
          (error) =>
            Effect.flatMap(Effect.option(sender), (told) =>
              Option.isSome(told) && told.value.version !== 2 ? Effect.fail(failure(error)) : reading(first)
            )
        ).pipe(Effect.mapError(failure))
      })

    const refsInZero = Effect.map(look, VersionZero.refsOf)

    const introduction = whole(
      reading(
        Effect.flatMap(transport.advertisement("git-receive-pack"), (bytes) =>
          parsed(() => parseAdvertisement(bytes, "git-receive-pack"))
        )
      )
    )
    const receiver = yield* Effect.cachedInvalidateWithTTL(introduction, "365 days")

    return {
      refs: (prefixes) =>
        explained(whole(speaking(refsInTwo(prefixes), () => refsInZero))).pipe(
          Effect.map((refs) => refs.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix))))
        ),
      fetch: fetchObjects,
      receiver: Effect.suspend(() => {
        introduced = true
        return Effect.tapError(receiver[0], () => receiver[1])
      }),
      isIntroduced: () => introduced,
      introduce: Effect.asVoid(introduction)
    }
  })
