import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Json } from "../../domain/Document.js"
import { fieldMatches } from "../../domain/IndexKey.js"
import { parseObject } from "../../domain/JsonText.js"
import type { Page } from "../../domain/Page.js"
import { type ReadError, ValidationError } from "../../domain/StoreError.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import { pathProblem } from "../../git/Names.js"
import type {
  CollectionExports,
  CollectionReader,
  Explanation,
  HistoryEntry,
  OnInvalid,
  ReadManyOptions
} from "../Collection.js"
import { documentPath, idAt } from "../DocumentPath.js"
import { withoutMark } from "../remote/CommitMark.js"
import { type Blob, takesRequests } from "../remote/GitRemote.js"
import { check } from "./Arguments.js"
import type { Codec } from "./Codec.js"
import { indexedFiles } from "./IndexedRead.js"
import { contents, type LocatedListing, partsOf, slice } from "./Listing.js"
import { lookup, treeLookups } from "./Lookup.js"
import type { Snapshot, StoreCore } from "./StoreCore.js"
import { type Place, versionOf } from "./Versions.js"

/** Bodies of many documents are asked for in groups of this many where each costs a request. */
const group = 100

/** The files of a listing in order; where reads cost requests, by way of the cache. */
const files = (
  core: StoreCore,
  collection: string,
  { at, listing, prefix, settings }: LocatedListing
): Stream.Stream<Blob, ReadError> => {
  const { concurrency } = core.options
  if (!takesRequests(core.remote)) return contents(core.remote, at, prefix, listing, concurrency)
  const root = core.options.root
  return Stream.flatMap(partsOf(listing, group), (part) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const entries = part.entries()
        const known = new Map<string, Blob>()
        const cachePath = (id: string) => documentPath(root, settings, collection, id)
        for (const { id, oid, path } of entries) {
          const entry = yield* core.cache.get(cachePath(id))
          if (Option.isSome(entry) && entry.value.oid === oid) {
            known.set(path, { path: prefix + path, oid, content: entry.value.content })
          }
        }
        const missing = entries.flatMap(({ oid, path }) =>
          known.has(path) ? [] : [{ path: prefix + path, oid }]
        )
        if (missing.length > 0) {
          yield* Stream.runForEach(core.remote.blobs(at, missing, { concurrency }), (blob) => {
            const path = blob.path.slice(prefix.length)
            known.set(path, blob)
            const id = idAt(settings, path)
            return id === undefined
              ? Effect.void
              : core.cache.set(cachePath(id), Option.some({ oid: blob.oid, content: blob.content }))
          })
        }
        return Stream.fromIterable(
          entries.flatMap(({ path }) => {
            const blob = known.get(path)
            return blob === undefined ? [] : [blob]
          })
        )
      })
    )
  )
}

/** How often an index is looked into while the branch moves; then the documents of one commit are scanned. */
const attempts = 3

/** Reads of one collection, for stores and views alike. */
export const makeReader = <A, I>(
  core: StoreCore,
  name: string,
  codec: Codec<A, I>
): Omit<CollectionReader<A>, keyof CollectionExports> => {
  const operation = (method: string) => `Collection.${method}`
  const placeOf = (method: string, id: string, path: string): Place => ({
    operation: operation(method),
    collection: name,
    id,
    path
  })

  const locate = (
    method: string,
    given: { readonly limit?: number | undefined; readonly after?: string | undefined }
  ) =>
    Effect.zipRight(
      check(operation(method), { collection: name, limit: given.limit, after: given.after }),
      Effect.suspend(() => core.listing(core.snapshot(), name))
    )

  /** The count that a manifest of format 2 has, where it is current. */
  const countInManifest = (snapshot: Snapshot) =>
    Effect.gen(function* () {
      const { settings } = yield* core.settings(snapshot)
      if (settings.format !== 2 || !settings.manifests.has(name)) return Option.none<number>()
      yield* snapshot.head
      const pinned = yield* core.repository.at(snapshot)
      const { countByManifest } = yield* treeLookups
      return yield* countByManifest(core, snapshot, pinned, name)
    })

  /** A document's path and the file there; none too where the layout would name a directory `.` for it. */
  const look = (snapshot: Snapshot, id: string, options?: { readonly fresh?: boolean | undefined }) =>
    Effect.gen(function* () {
      const { settings } = yield* core.settings(snapshot)
      const path = documentPath(core.options.root, settings, name, id)
      const file = pathProblem(path) === undefined ? yield* snapshot.file(path, options) : Option.none()
      return { path, file }
    })

  /** Decodes files, each by the caller's choice of what an unfit one does. */
  const decode = (method: string, blobs: Iterable<Blob>, onInvalid: OnInvalid) =>
    Effect.gen(function* () {
      const found: Array<A> = []
      const slice = TimeSlice.make()
      for (const { content, path } of blobs) {
        if (slice.isSpent()) yield* slice.pause
        const id = path.slice(path.lastIndexOf("/") + 1, -".json".length)
        const read = codec.read(placeOf(method, id, path), content)
        const answer = Either.isEither(read)
          ? (read as Either.Either<A, ValidationError>)
          : yield* Effect.either(read)
        if (Either.isRight(answer)) found.push(answer.right)
        else if (onInvalid === "fail") return yield* answer.left
        else if (onInvalid !== "skip") yield* onInvalid(id, answer.left)
      }
      return found
    })

  const documents = (method: string, located: LocatedListing, onInvalid: OnInvalid) =>
    Stream.mapChunksEffect(files(core, name, located), (blobs) =>
      Effect.map(decode(method, blobs, onInvalid), Chunk.unsafeFromArray)
    )

  const everything = (method: string, options: ReadManyOptions, bounded: boolean) =>
    Stream.unwrap(
      Effect.map(locate(method, options), (located) => {
        const onInvalid = options.onInvalid ?? "fail"
        const cut = bounded && onInvalid === "fail" ? options.limit : undefined
        const listing = slice(located.listing, cut, options.after)
        return documents(method, { ...located, listing }, onInvalid)
      })
    )

  const limited = <B, E>(stream: Stream.Stream<B, E>, limit: number | undefined) =>
    limit === undefined || !Number.isInteger(limit) || limit < 1 ? stream : Stream.take(stream, limit)

  const satisfies = (method: string, predicate: (document: A) => boolean, document: A) =>
    Effect.try({
      try: () => {
        const answer: unknown = predicate(document)
        // It would find everything, since a promise is true.
        if (Predicate.isPromiseLike(answer))
          throw new Error("it answered a promise, and is to answer at once")
        return Boolean(answer)
      },
      catch: (cause) =>
        new ValidationError({
          operation: operation(method),
          collection: name,
          message: `the predicate threw: ${cause instanceof Error ? cause.message : String(cause)}`,
          cause
        })
    })

  const pageOf = (method: string, located: LocatedListing, size: number, options: ReadManyOptions) =>
    Effect.gen(function* () {
      const rest = slice(located.listing, size + 1, options.after)
      const listing = slice(rest, size, undefined)
      const found = yield* Stream.runCollect(
        documents(method, { ...located, listing }, options.onInvalid ?? "fail")
      )
      const more = rest.length > size
      return {
        documents: Chunk.toReadonlyArray(found),
        cursor: more ? listing.id(size - 1) : null
      } satisfies Page<A>
    })

  const matching = (field: string, value: Json, blobs: Iterable<Blob>) =>
    Effect.gen(function* () {
      const found: Array<Blob> = []
      const slice = TimeSlice.make()
      for (const blob of blobs) {
        if (slice.isSpent()) yield* slice.pause
        const document = parseObject(blob.content)
        if (Either.isLeft(document)) found.push(blob)
        else if (Object.hasOwn(document.right, field) && fieldMatches(document.right[field], value))
          found.push(blob)
      }
      return found
    })

  /** The documents among files whose field matches: files that hold no document count as unfit ones. */
  const decodeMatching = (field: string, value: Json, blobs: Iterable<Blob>, onInvalid: OnInvalid) =>
    Effect.map(
      Effect.flatMap(matching(field, value, blobs), (found) => decode("findBy", found, onInvalid)),
      Chunk.unsafeFromArray
    )

  /** Documents of a scan whose stored field matches. */
  const scanBy = (field: string, value: Json, options: ReadManyOptions) =>
    Stream.unwrap(
      Effect.map(locate("findBy", options), (located) => {
        const listing = slice(located.listing, undefined, options.after)
        return Stream.mapChunksEffect(files(core, name, { ...located, listing }), (blobs) =>
          decodeMatching(field, value, blobs, options.onInvalid ?? "fail")
        )
      })
    )

  return {
    name,
    get: Effect.fnUntraced(function* (id, options) {
      yield* check(operation("get"), { collection: name, id })
      const { file, path } = yield* look(core.snapshot(), id, options)
      if (Option.isNone(file)) return Option.none()
      return Option.some(yield* codec.read(placeOf("get", id, path), file.value.content))
    }),
    version: Effect.fnUntraced(function* (id) {
      yield* check(operation("version"), { collection: name, id })
      const snapshot = core.snapshot()
      const head = yield* snapshot.head
      const { file, path } = yield* look(snapshot, id)
      if (Option.isNone(head) || Option.isNone(file)) return Option.none()
      const document = yield* codec.read(placeOf("version", id, path), file.value.content)
      const { rev } = versionOf(path, file.value)
      return Option.some({ document, rev, sha: file.value.oid, commit: head.value.commit })
    }),
    exists: Effect.fnUntraced(function* (id) {
      yield* check(operation("exists"), { collection: name, id })
      return Option.isSome((yield* look(core.snapshot(), id)).file)
    }),
    list: Effect.fnUntraced(function* (options = {}) {
      const { listing } = yield* locate("list", options)
      return slice(listing, options.limit, options.after).ids()
    }),
    count: Effect.gen(function* () {
      yield* check(operation("count"), { collection: name })
      const snapshot = core.snapshot()
      const counted = yield* countInManifest(snapshot)
      return Option.isSome(counted) ? counted.value : (yield* core.listing(snapshot, name)).listing.length
    }),
    all: (options = {}) => limited(everything("all", options, true), options.limit),
    find: (predicate, options = {}) =>
      limited(
        Stream.filterEffect(everything("find", options, false), (document) =>
          satisfies("find", predicate, document)
        ),
        options.limit
      ),
    findBy: Effect.fnUntraced(function* (field, value, options = {}) {
      const { after, limit } = options
      yield* check(operation("findBy"), { collection: name, field, value, limit, after })
      for (let attempt = 0; attempt < attempts; attempt++) {
        const snapshot = core.snapshot()
        const how = yield* lookup(core, snapshot, name, field, value)
        if (how._tag === "Scan") break
        const found = Stream.mapChunksEffect(indexedFiles(core, snapshot, name, how, after), (blobs) =>
          decodeMatching(field, value, blobs, options.onInvalid ?? "fail")
        )
        const all = yield* Stream.runCollect(limited(found, limit)).pipe(
          Effect.asSome,
          Effect.catchTag("IndexDisagrees", () => Effect.succeedNone)
        )
        if (Option.isSome(all)) return Chunk.toReadonlyArray(all.value)
        if (snapshot.isPinned()) break
      }
      return Chunk.toReadonlyArray(yield* Stream.runCollect(limited(scanBy(field, value, options), limit)))
    }),
    page: Effect.fnUntraced(function* (options = {}) {
      const located = yield* locate("page", options)
      return yield* pageOf("page", located, options.limit ?? 100, options)
    }),
    pages: (options = {}) =>
      Stream.unwrap(
        Effect.map(
          Effect.zipRight(
            check(operation("pages"), { collection: name, size: options.size, after: options.after }),
            locate("pages", { after: options.after })
          ),
          (located) =>
            Stream.paginateEffect(options.after, (after) =>
              Effect.map(
                pageOf("pages", located, options.size ?? 100, after === undefined ? {} : { after }),
                (page) => [page, Option.fromNullable(page.cursor)] as const
              )
            ).pipe(Stream.filter((page) => page.documents.length > 0))
        )
      ),
    history: Effect.fnUntraced(function* (id, options) {
      const limit = options?.limit ?? 30
      yield* check(operation("history"), { collection: name, id, limit })
      const snapshot = core.snapshot()
      const head = yield* snapshot.head
      if (Option.isNone(head)) return []
      const { settings } = yield* core.settings(snapshot)
      const path = documentPath(core.options.root, settings, name, id)
      snapshot.reads.files.set(path, null)
      const log = core.remote.log(head.value, path, { limit })
      const commits = yield* Stream.runCollect(Stream.take(log, limit))
      return Chunk.toReadonlyArray(commits).map(
        ({ author, commit, message, url }): HistoryEntry => ({
          sha: commit,
          message: withoutMark(message),
          author: author.name,
          date: author.date,
          url
        })
      )
    }),
    explain: Effect.fnUntraced(function* (field, value) {
      yield* check(operation("explain"), { collection: name, field, value })
      const snapshot = core.snapshot()
      const how = yield* lookup(core, snapshot, name, field, value)
      const { current, index, reason } = how
      const cost = (documents: number) =>
        documents === 0 ? 0 : core.remote.estimate({ _tag: "Read", documents })
      if (how._tag === "Index") {
        const reads = core.remote.estimate({ _tag: "Lookup" })
        return {
          source: "index",
          reason,
          index,
          current,
          requests: reads + cost(how.ids.length)
        } satisfies Explanation
      }
      if (!takesRequests(core.remote)) {
        return { source: "scan", reason, index, current, requests: 0 } satisfies Explanation
      }
      const { listing } = yield* core.listing(snapshot, name)
      const entries = listing.length
      const requests = core.remote.estimate({ _tag: "List", entries }) + cost(entries)
      return { source: "scan", reason, index, current, requests } satisfies Explanation
    })
  }
}
