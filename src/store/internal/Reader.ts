import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { lazy } from "../../domain/Lazy.js"
import type { Page } from "../../domain/Page.js"
import { type ReadError, ValidationError } from "../../domain/StoreError.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import { pathProblem } from "../../git/Names.js"
import type {
  CollectionExports,
  CollectionReader,
  HistoryEntry,
  OnInvalid,
  ReadManyOptions
} from "../Collection.js"
import { documentPath } from "../DocumentPath.js"
import { withoutMark } from "../remote/CommitMark.js"
import type { Blob } from "../remote/GitRemote.js"
import { check } from "./Arguments.js"
import type { Codec } from "./Codec.js"
import { documentFiles } from "./DocumentFiles.js"
import { type LocatedListing, slice } from "./Listing.js"
import type { ParsedFile } from "./QueryTarget.js"
import type { Snapshot, StoreCore } from "./StoreCore.js"
import { complete, type Place, versionOf } from "./Versions.js"

/** Loaded where something is asked for by a query. */
const queries = lazy(() => import("./Queries.js"))

type Queries = Effect.Effect.Success<typeof queries>

/** A method that asks by a query; its interface says what it is given and returns. */
const asking =
  (ask: (queries: Queries, given: unknown) => Effect.Effect<unknown, ReadError>) =>
  (given?: unknown): Effect.Effect<any, ReadError> =>
    Effect.flatMap(queries, (loaded) => ask(loaded, given))

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

  /** A document's path and the file there; none too where the layout would name a directory `.` for it. */
  const look = (snapshot: Snapshot, id: string, options?: { readonly fresh?: boolean | undefined }) =>
    Effect.gen(function* () {
      const { settings } = yield* core.settings(snapshot)
      const path = documentPath(core.options.root, settings, name, id)
      const file = pathProblem(path) === undefined ? yield* snapshot.file(path, options) : Option.none()
      return { path, file }
    })

  /** Decodes files, parsed or not, each by the caller's choice of what an unfit one does. */
  const decode = (method: string, files: Iterable<Blob & Partial<ParsedFile>>, onInvalid: OnInvalid) =>
    Effect.gen(function* () {
      const found: Array<A> = []
      const slice = TimeSlice.make()
      for (const { content, object, path } of files) {
        if (slice.isSpent()) yield* slice.pause
        const id = path.slice(path.lastIndexOf("/") + 1, -".json".length)
        const place = placeOf(method, id, path)
        const read =
          object === undefined ? codec.read(place, content) : codec.fromDocument(place, complete(id, object))
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
    Stream.mapChunksEffect(documentFiles(core, name, located), (blobs) =>
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

  const queried = { core, collection: name, decode }

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
    count: Effect.flatMap(queries, ({ size }) => size(queried)),
    all: (options = {}) => limited(everything("all", options, true), options.limit),
    find: (predicate, options = {}) =>
      limited(
        Stream.filterEffect(everything("find", options, false), (document) =>
          satisfies("find", predicate, document)
        ),
        options.limit
      ),
    findBy: Effect.fnUntraced(function* (field, value, options) {
      const { findBy } = yield* queries
      return yield* findBy(queried, field, value, options)
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
    query: asking(({ page }, given) => page(queried, given)),
    queryAll: (given?: unknown) =>
      Stream.unwrap(Effect.map(queries, ({ all }) => all(queried, given))) as any,
    explainQuery: (given, options) => asking(({ explainQuery }) => explainQuery(queried, given, options))(),
    countWhere: asking(({ count }, given) => count(queried, given)),
    distinct: asking(({ distinct }, given) => distinct(queried, given)),
    explain: Effect.fnUntraced(function* (field, value) {
      const { explain } = yield* queries
      return yield* explain(queried, field, value)
    })
  }
}
