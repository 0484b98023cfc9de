import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TimeSlice from "../../domain/concurrency/TimeSlice.js"
import type { ReadError, ValidationError } from "../../domain/errors/StoreError.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { pathProblem } from "../../git/Names.js"
import { BatchingTypeId } from "../Batching.js"
import type { CollectionExports, CollectionReader, OnInvalid } from "../Collection.js"
import { documentPath } from "../DocumentPath.js"
import type { Blob } from "../remote/GitRemote.js"
import { checkArguments } from "./calls/Arguments.js"
import type { Codec } from "./calls/Codec.js"
import type { Snapshot, StoreCore } from "./commit/StoreCore.js"
import { type DocumentPlace, readDocument, withMetadata } from "./commit/VersionCodec.js"
import { historyEntry } from "./HistoryEntries.js"
import type { ParsedFile } from "./query/QueryTarget.js"

/** Loaded on the first batched get. */
const batchedGets = lazyModule(() => import("./query/BatchedGet.js"))

/** Loaded when documents are listed or scanned. */
const scans = lazyModule(() => import("./query/Scans.js"))

/** Loaded when the schema of a collection is read. */
const schemas = lazyModule(() => import("./JsonSchemas.js"))

/** Loaded on the first query. */
const queries = lazyModule(() => import("./query/Queries.js"))

type Queries = Effect.Effect.Success<typeof queries>

/** A query method; the interface gives its argument and result types. */
const asking =
  (ask: (queries: Queries, given: unknown) => Effect.Effect<unknown, ReadError>) =>
  (given?: unknown): Effect.Effect<any, ReadError> =>
    Effect.flatMap(queries, (loaded) => ask(loaded, given))

/** The reads of one collection, for stores and views. */
export const makeCollectionReader = <A, I>(
  core: StoreCore,
  name: string,
  codec: Codec<A, I>
): Omit<CollectionReader<A>, keyof CollectionExports> => {
  const operation = (method: string) => `Collection.${method}`
  const placeOf = (method: string, id: string, path: string): DocumentPlace => ({
    operation: operation(method),
    collection: name,
    id,
    path
  })

  /** The path of a document and its file; no file if the layout has no valid path for the id. */
  const look = (
    snapshot: Snapshot,
    id: string,
    options?: { readonly fresh?: boolean | undefined },
    collection = name
  ) =>
    Effect.gen(function* () {
      const { settings } = yield* core.settings(snapshot)
      const path = documentPath(core.options.root, settings, collection, id)
      const file = pathProblem(path) === undefined ? yield* snapshot.file(path, options) : Option.none()
      return { path, file }
    })

  /** The same for a new snapshot, batched with concurrent reads if the store has the option for it. */
  const lookNow = (id: string, options?: { readonly fresh?: boolean | undefined }) => {
    const alone = Effect.suspend(() => look(core.snapshot(), id, options))
    const { batching } = core.options
    return batching === undefined || options?.fresh === true
      ? alone
      : batching[BatchingTypeId]({
          key: core,
          input: { collection: name, id },
          alone,
          together: (names) =>
            Effect.flatMap(batchedGets, ({ readTogether }) =>
              readTogether(core, names, (one) => look(core.snapshot(), one.id, undefined, one.collection))
            )
        })
  }

  /** Decodes files, parsed or not; `onInvalid` determines what an invalid file does. */
  const decode = (method: string, files: Iterable<Blob & Partial<ParsedFile>>, onInvalid: OnInvalid) =>
    Effect.gen(function* () {
      const found: Array<A> = []
      const slice = TimeSlice.make()
      for (const { content, object, path } of files) {
        if (slice.isSpent()) yield* slice.pause
        const id = path.slice(path.lastIndexOf("/") + 1, -".json".length)
        const place = placeOf(method, id, path)
        const read =
          object === undefined
            ? codec.read(place, content)
            : codec.fromDocument(place, withMetadata(id, object), content)
        const answer = Either.isEither(read)
          ? (read as Either.Either<A, ValidationError>)
          : yield* Effect.either(read)
        if (Either.isRight(answer)) found.push(answer.right)
        else if (onInvalid === "fail") return yield* answer.left
        else if (onInvalid !== "skip") yield* onInvalid(id, answer.left)
      }
      return found
    })

  const queried = { core, collection: name, decode }

  return {
    name,
    get: Effect.fnUntraced(function* (id, options) {
      yield* checkArguments(operation("get"), { collection: name, id })
      const { file, path } = yield* lookNow(id, options)
      if (Option.isNone(file)) return Option.none()
      return Option.some(yield* codec.read(placeOf("get", id, path), file.value.content))
    }),
    version: Effect.fnUntraced(function* (id) {
      yield* checkArguments(operation("version"), { collection: name, id })
      const snapshot = core.snapshot()
      const head = yield* snapshot.head
      const { file, path } = yield* look(snapshot, id)
      if (Option.isNone(head) || Option.isNone(file)) return Option.none()
      const place = placeOf("version", id, path)
      const stored = yield* readDocument(place, file.value.content)
      const document = yield* codec.fromDocument(place, stored, file.value.content)
      return Option.some({ document, rev: stored._rev, sha: file.value.oid, commit: head.value.commit })
    }),
    exists: Effect.fnUntraced(function* (id) {
      yield* checkArguments(operation("exists"), { collection: name, id })
      return Option.isSome((yield* look(core.snapshot(), id)).file)
    }),
    list: (options) => Effect.flatMap(scans, ({ list }) => list(queried, options)),
    count: Effect.flatMap(queries, ({ countAll }) => countAll(queried)),
    jsonSchema: Effect.flatMap(schemas, ({ readSchema }) => readSchema(core, name)),
    all: (options) => Stream.unwrap(Effect.map(scans, ({ all }) => all(queried, options))),
    find: (predicate, options) =>
      Stream.unwrap(Effect.map(scans, ({ find }) => find(queried, predicate, options))),
    findBy: Effect.fnUntraced(function* (field, value, options) {
      const { findBy } = yield* queries
      return yield* findBy(queried, field, value, options)
    }),
    page: (options) => Effect.flatMap(scans, ({ page }) => page(queried, options)),
    pages: (options) => Stream.unwrap(Effect.map(scans, ({ pages }) => pages(queried, options))),
    history: Effect.fnUntraced(function* (id, options) {
      const limit = options?.limit ?? 30
      yield* checkArguments(operation("history"), { collection: name, id, limit })
      const snapshot = core.snapshot()
      const head = yield* snapshot.head
      if (Option.isNone(head)) return []
      const { settings } = yield* core.settings(snapshot)
      const path = documentPath(core.options.root, settings, name, id)
      snapshot.readSet.files.set(path, null)
      const log = core.remote.log(head.value, path, { limit })
      const commits = yield* Stream.runCollect(Stream.take(log, limit))
      return Array.from(commits, historyEntry)
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
