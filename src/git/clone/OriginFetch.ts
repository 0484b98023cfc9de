import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { RemoteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { GitRepository } from "../disk/port/GitRepository.js"
import type { Advertisement } from "../protocol/Advertisement.js"
import { ProtocolError } from "../protocol/PktLine.js"
import type { LostReply, Transport } from "../protocol/Transport.js"
import {
  encodeFetch,
  type FetchReply,
  FetchReplyV2,
  type FetchRequest,
  maxDepth
} from "../protocol/UploadPack.js"
import * as VersionZero from "../protocol/UploadPackV0.js"
import { isRefusal, parsed, type RequestFailure, type ServerProtocol } from "./ServerProtocol.js"
import type { ShallowFile } from "./ShallowFile.js"

export interface OriginFetchOptions {
  readonly url: string
  readonly transport: Transport
  readonly agent: string
  readonly protocol: ServerProtocol
  /** Stores the objects of a fetched pack. */
  readonly ingest: GitRepository["ingest"]
  readonly shallow: ShallowFile
  /** Whether the clone has an object. */
  readonly has: (oid: Oid) => Effect.Effect<boolean, RemoteError>
  /** Whether the clone has the parents of a commit. */
  readonly hasParents: (oid: Oid) => Effect.Effect<boolean, RemoteError>
  /** The largest size of a pack, in bytes. */
  readonly maxPackBytes: number
}

const operation = "GitHost.fetch"

/** How often a fetch from a server of version 0 is repeated when the wanted refs moved after they were listed. */
const maxLookups = 16

/** The largest size of a response in addition to its pack, in bytes: packet headers and the list of shallow commits. */
const maxOverhead = 4 * 1024 * 1024

const isUnknownObject = (error: unknown) =>
  error instanceof ProtocolError && /not our ref|no such object/i.test(error.message)

/** Fetches objects from a server into a clone. Returns false if the server does not have a wanted object. */
export const make = (options: OriginFetchOptions) => {
  const { agent, has, hasParents, ingest, maxPackBytes, protocol, shallow, transport, url } = options

  /**
   * Records the shallow commits of a pack before it is stored: a commit that is stored without them seems to have its parents, and
   * is not fetched again.
   */
  const recordNew = (commits: ReadonlyArray<Oid>) =>
    Effect.flatMap(
      Effect.filter(commits, (oid) => Effect.negate(has(oid))),
      (added) => shallow.update(added, [])
    )

  /** The shallow commits that the clone has. Others were recorded for a pack that was not stored. */
  const storedShallow = (commits: Iterable<Oid>) => Effect.filter(commits, has)

  const isComplete = (oid: Oid) => Effect.zipWith(has(oid), hasParents(oid), (found, all) => found && all)

  /** Sends one request, and stores the pack and the shallow commits of its response. */
  const fetchPack = (
    request: FetchRequest,
    body: Uint8Array,
    makeReply: () => FetchReply
  ): Effect.Effect<void, RequestFailure | LostReply> =>
    Effect.suspend(() => {
      const reply = makeReply()
      let received = 0
      let isRecorded = false
      const parsePiece = (
        bytes: Uint8Array
      ): Effect.Effect<ReadonlyArray<Uint8Array>, ProtocolError | RemoteError> => {
        received += bytes.length
        return received > maxPackBytes + maxOverhead
          ? new RemoteError({
              operation,
              reason: "Denied",
              path: url,
              message: `a response has more than ${maxPackBytes} bytes`,
              hint: "raise `maxFetch`"
            })
          : parsed(() => reply.push(bytes))
      }
      const pack = transport.post("git-upload-pack", body).pipe(
        Stream.mapEffect(parsePiece),
        // `git index-pack` stores a pack as soon as it has read its end, so this comes before its first bytes.
        Stream.tap((pieces) => {
          if (isRecorded || pieces.length === 0) return Effect.void
          isRecorded = true
          return recordNew(reply.shallow)
        }),
        Stream.flattenIterables,
        // A truncated response fails before the pack is stored.
        Stream.concat(Stream.drain(Stream.fromEffect(Effect.suspend(() => parsed(() => reply.end())))))
      )
      /**
       * Afterwards only commits without their parents are recorded. A server reports each commit at the requested depth as
       * shallow, also if the clone has its parents. It does not know of commits that were recorded and not sent to it.
       */
      const recordStored = Effect.suspend(() => {
        const recorded = shallow.commits
        const sent = new Set(request.shallow)
        const others = request.depth === undefined ? [] : [...recorded].filter((oid) => !sent.has(oid))
        return Effect.flatMap(
          Effect.filter([...new Set([...reply.shallow, ...others])], isComplete),
          (complete) =>
            shallow.update(
              reply.shallow.filter((oid) => !recorded.has(oid) && !complete.includes(oid)),
              [...reply.unshallow, ...complete.filter((oid) => recorded.has(oid))]
            )
        )
      })
      return Effect.zipRight(ingest(pack, maxPackBytes), recordStored)
    })

  const withFilter = (request: FetchRequest, isFiltered: boolean): FetchRequest =>
    isFiltered ? request : { ...request, filter: undefined }

  const fetchByVersionTwo = (request: FetchRequest): Effect.Effect<boolean, RequestFailure> =>
    Effect.flatMap(protocol.usesFilters, (isFiltered) =>
      protocol
        .retrying(
          fetchPack(request, encodeFetch(agent, withFilter(request, isFiltered)), () => new FetchReplyV2())
        )
        .pipe(
          Effect.as(true),
          Effect.catchAll((error): Effect.Effect<boolean, RequestFailure> => {
            if (isUnknownObject(error)) return Effect.succeed(false)
            if (!isFiltered || request.filter === undefined || !isRefusal(error)) return Effect.fail(error)
            return Effect.flatMap(protocol.offersFilters, (offered) =>
              offered
                ? Effect.fail(error)
                : Effect.zipRight(protocol.disableFilters, fetchByVersionTwo(request))
            )
          })
        )
    )

  const fetchByVersionZero =
    (request: FetchRequest) =>
    (advertised: Advertisement): Effect.Effect<boolean, RequestFailure> =>
      Effect.flatMap(protocol.usesFilters, (isFiltered) => {
        const fetchOnce = (one: FetchRequest) =>
          protocol.retrying(
            fetchPack(
              one,
              VersionZero.encodeFetch(agent, withFilter(one, isFiltered), advertised),
              () => new VersionZero.FetchReplyV0(advertised.capabilities.has("side-band-64k"))
            )
          )
        const hasAll = Effect.every(request.wants, has)
        const { depth = maxDepth, filter, haves } = request
        /** Fetches all refs. They may move between their listing and the fetch. */
        const fetchRefs = (
          one: Pick<FetchRequest, "depth" | "haves">,
          lookups = maxLookups
        ): Effect.Effect<void, RequestFailure> =>
          Effect.flatMap(protocol.refreshVersionZero, ({ refs }) => {
            const wants = [...new Set(refs.values())]
            return wants.length === 0
              ? Effect.void
              : Effect.catchIf(
                  Effect.flatMap(storedShallow(shallow.commits), (stored) =>
                    fetchOnce({ ...one, wants, shallow: stored, filter })
                  ),
                  (error) => lookups > 1 && isUnknownObject(error),
                  () => fetchRefs(one, lookups - 1)
                )
          })
        return fetchOnce(request).pipe(
          Effect.as(true),
          Effect.catchIf(isUnknownObject, () =>
            advertised.capabilities.has("allow-any-sha1-in-want")
              ? hasAll
              : // The server accepts only the heads of refs, which may have moved since their listing.
                Effect.zipRight(fetchRefs({ depth, haves }), hasAll).pipe(
                  Effect.flatMap((found) =>
                    found || (depth === maxDepth && haves === undefined)
                      ? Effect.succeed(found)
                      : Effect.zipRight(fetchRefs({ depth: maxDepth }), hasAll)
                  )
                )
          )
        )
      })

  return (request: FetchRequest): Effect.Effect<boolean, RequestFailure> =>
    Effect.flatMap(storedShallow(request.shallow ?? []), (stored) => {
      const sent = { ...request, shallow: stored }
      return protocol.withVersion(fetchByVersionTwo(sent), fetchByVersionZero(sent))
    })
}
