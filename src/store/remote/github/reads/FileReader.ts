import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { RemoteError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { lazyModule } from "../../../../domain/runtime/LazyModule.js"
import type { Blob, Head, RemoteFileReadOptions, SnapshotFile } from "../../GitRemote.js"
import { isMissing, isUnknownCommit } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import { isHeaderValue } from "../client/HeaderValue.js"
import { retryStaleReply } from "../client/Retry.js"
import { makeValidatorCache } from "../client/ValidatorCache.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import { makeReadBlob } from "../objects/BlobReads.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import { type FileRead, makeFileReads, noFile } from "../objects/FileReads.js"
import type * as Bulk from "../objects/GraphqlBlobReads.js"
import { entryNamed } from "../objects/Listing.js"
import type { ObjectCache } from "../objects/ObjectCache.js"
import { makeRawReads } from "../objects/RawReads.js"
import type { TreeReader } from "../objects/TreeReader.js"

type Failure = CallFailure | RemoteError

/** Reads files by id, by commit and by branch. */
export interface FileReader {
  readonly file: (at: Head | Oid, path: string) => Effect.Effect<Option.Option<Blob>, Failure>
  readonly atBranch: (
    branch: string,
    path: string,
    look: RemoteFileReadOptions
  ) => Effect.Effect<Option.Option<SnapshotFile>, Failure>
  readonly many: (
    at: Head | Oid,
    files: ReadonlyArray<FileSelector>,
    concurrency: number
  ) => Stream.Stream<Blob, Failure>
  readonly forgetValidator: (branch: string, path: string) => void
  readonly clear: () => void
}

interface FileSelector {
  readonly path: string
  readonly oid?: Oid | undefined
}

interface Parts {
  readonly client: Client
  readonly cache: ObjectCache
  readonly cachedTrees: CachedTrees
  readonly trees: TreeReader
  readonly branchHeads: BranchHeads
  readonly head: (branch: string) => ReturnType<BranchHeads["head"]>
}

const key = (branch: string, path: string) => `${branch}\0${path}`

const commitOf = (at: Head | Oid): Oid => (typeof at === "string" ? at : at.commit)

// Loaded on first use: a page that reads by REST does not need it.
const bulk = lazyModule(() => import("../objects/GraphqlBlobReads.js"))

export const makeFileReader = ({
  branchHeads,
  cache,
  client,
  head,
  cachedTrees,
  trees
}: Parts): FileReader => {
  const { settings } = client
  // Replies of `rawUrl` do not depend on the token.
  const validators = makeValidatorCache<Oid>(
    settings.readOnly ? { generation: Effect.succeed(0) } : client,
    50_000
  )
  const readBlob = makeReadBlob(client, cache)
  const { contents, raw } = makeFileReads(client, cache, readBlob)

  const blob = (oid: Oid, path: string) => Effect.asSome(readBlob(oid, path))
  const none = Effect.succeed(Option.none<Blob>())
  const wasSeen = (at: Head | Oid) => typeof at !== "string" || Option.isSome(cachedTrees.rootAt(at))

  const entryAt = (at: Head | Oid, path: string) => {
    const slash = path.lastIndexOf("/")
    return Effect.map(
      trees.list(at, slash < 0 ? "" : path.slice(0, slash), false),
      Option.flatMapNullable((found) => entryNamed(found.directories.get("") ?? [], path.slice(slash + 1)))
    )
  }

  /** By the tree of its directory, for files that the Contents API does not serve. */
  const byTree = (at: Head | Oid, path: string): Effect.Effect<Option.Option<Blob>, Failure> =>
    Effect.flatMap(entryAt(at, path), (entry) =>
      Option.isSome(entry) && entry.value.kind === "blob" ? blob(entry.value.oid, path) : none
    )

  const byContents = (at: Head | Oid, path: string): Effect.Effect<Option.Option<Blob>, Failure> =>
    retryStaleReply(contents(commitOf(at), path), (error) => wasSeen(at) && isUnknownCommit(error)).pipe(
      Effect.map((answer) => {
        if (answer.notAFile !== undefined) cachedTrees.noteNotAFile(at, path, answer.notAFile)
        return answer.blob
      }),
      Effect.catchAll((error): Effect.Effect<Option.Option<Blob>, Failure> => {
        if (error._tag !== "ApiFailure") return Effect.fail(error)
        if (error.kind === "TooLarge") return byTree(at, path)
        if (!isMissing(error)) return Effect.fail(error)
        if (!isUnknownCommit(error)) return none
        // It may be the id of a tree, which the Contents API does not accept.
        return wasSeen(at) ? Effect.fail(error) : byTree(at, path)
      })
    )

  const readBulk = (...given: Parameters<typeof Bulk.readBlobsByGraphql>) =>
    Effect.flatMap(bulk, (loaded) => loaded.readBlobsByGraphql(...given))

  const noteDirectory = (at: Head | Oid, path: string, found: Bulk.BatchedBlob | undefined) => {
    if (found?._tag === "Absent" && found.isDirectory === true) cachedTrees.noteNotAFile(at, path, "tree")
  }

  const byGraphql = (at: Head | Oid, path: string) =>
    Effect.flatMap(readBulk(client, [{ at: commitOf(at), path, exists: wasSeen(at) }]), ([found]) => {
      noteDirectory(at, path, found)
      if (found?._tag === "Elsewhere") return byTree(at, path)
      if (found?._tag !== "Text") return none
      cache.putBlob(found.oid, found.content)
      return Effect.succeedSome({ path, oid: found.oid, content: found.content })
    })

  const byApi = (at: Head | Oid, path: string) =>
    settings.useGraphql ? byGraphql(at, path) : byContents(at, path)

  const raws = makeRawReads({
    cache,
    raw,
    blob: readBlob,
    head,
    located: cachedTrees.entryAt,
    entry: entryAt,
    byApi
  })

  const file: FileReader["file"] = (at, path) =>
    settings.readOnly && typeof at !== "string"
      ? Effect.map(raws.file(at, path), (found) => found.blob)
      : Effect.flatMap(trees.prefetchWholeTree(at), () => {
          const entry = cachedTrees.entryAt(at, path)
          return entry === undefined
            ? byApi(at, path)
            : Option.isSome(entry) && entry.value.kind === "blob"
              ? blob(entry.value.oid, path)
              : none
        })

  /** Reads by branch name, except that a read-only store may be pinned to a commit. */
  const ask = (branch: string, path: string, etag: string | undefined): Effect.Effect<FileRead, Failure> => {
    if (!settings.readOnly) return contents(branch, path, etag)
    if (!settings.pinRef && Option.isNone(settings.ref)) return raws.atBranch(branch, path, etag)
    return Effect.flatMap(head(branch), (at) =>
      Option.isNone(at) ? Effect.succeed(noFile) : raws.file(at.value, path, { etag })
    )
  }

  const atBranch: FileReader["atBranch"] = (branch, path, { fresh, cached: held = Option.none() }) =>
    Effect.gen(function* () {
      const before = Option.getOrUndefined(held)
      const name = key(branch, path)
      const kept = before === undefined || fresh === true ? undefined : yield* validators.get(name)
      // The caller's entity tag, which another process may have received, is used if this process has none.
      const given = fresh === true || validators.has(name) ? undefined : before?.etag
      const own = kept !== undefined && kept.value === before?.oid ? kept.etag : undefined
      const etag = own ?? (typeof given === "string" && isHeaderValue(given) ? given : undefined)
      const answer = yield* ask(branch, path, etag).pipe(
        Effect.catchAll((error): Effect.Effect<FileRead, Failure> => {
          if (error._tag !== "ApiFailure") return Effect.fail(error)
          // A branch that we have just made may not be known to the machine that answered.
          const ours =
            isUnknownCommit(error) && !settings.readOnly && branchHeads.lastOwnCommit(branch) !== undefined
          if (isMissing(error) && !ours) return Effect.succeed(noFile)
          if (error.kind !== "TooLarge" && !ours) return Effect.fail(error)
          return Effect.flatMap(head(branch), (at) =>
            Option.isNone(at)
              ? Effect.succeed(noFile)
              : Effect.map((ours ? file : byTree)(at.value, path), (found) => ({ ...noFile, blob: found }))
          )
        })
      )
      const read: Option.Option<SnapshotFile> =
        answer.notModified && before !== undefined
          ? Option.some({ content: before.content, oid: before.oid, etag, notModified: true })
          : Option.map(answer.blob, ({ content, oid }) => ({
              content,
              oid,
              notModified: false,
              ...(answer.etag === undefined ? {} : { etag: answer.etag })
            }))
      const version = Option.map(read, ({ oid }) => oid)
      if (!settings.readOnly && (yield* branchHeads.mayBeStale(branch, path, version))) {
        const asked = yield* branchHeads.now
        const at = yield* head(branch)
        const found = Option.isNone(at) ? Option.none() : yield* file(at.value, path)
        const there = Option.map(found, ({ oid }) => oid)
        yield* branchHeads.confirmFile(branch, path, there, asked)
        if (Option.getOrUndefined(there) !== Option.getOrUndefined(version)) {
          return Option.map(found, ({ content, oid }) => ({ content, oid, notModified: false }))
        }
      }
      if (Option.isSome(read) && !read.value.notModified) {
        validators.put(name, answer.etag, answer.generation, read.value.oid)
      }
      return read
    })

  const one = (at: Head | Oid) => (wanted: FileSelector) =>
    settings.readOnly && typeof at !== "string"
      ? Effect.map(raws.file(at, wanted.path, { oid: wanted.oid }), (found) => found.blob)
      : wanted.oid === undefined
        ? file(at, wanted.path)
        : blob(wanted.oid, wanted.path)

  const batch = (at: Head | Oid, wanted: ReadonlyArray<FileSelector>) =>
    Effect.gen(function* () {
      yield* trees.prefetchWholeTree(at)
      const exists = wasSeen(at)
      const placed = wanted.map(({ oid, path }) => {
        const entry = oid === undefined ? cachedTrees.entryAt(at, path) : undefined
        const file = Option.filter(entry ?? Option.none(), ({ kind }) => kind === "blob")
        const found = oid ?? Option.getOrUndefined(file)?.oid
        return { path, oid: found, absent: oid === undefined && entry !== undefined && found === undefined }
      })
      const asked = placed.filter(
        ({ absent, oid }) => !absent && (oid === undefined || cache.blob(oid) === undefined)
      )
      const found = yield* readBulk(
        client,
        asked.map(({ oid, path }) => ({ at: commitOf(at), path, oid, exists }))
      )
      const answers = new Map(asked.map((item, index) => [item, found[index]]))
      return yield* Effect.forEach(
        placed,
        (item): Effect.Effect<Option.Option<Blob>, Failure> => {
          const answer = answers.get(item)
          noteDirectory(at, item.path, answer)
          if (item.absent || answer?._tag === "Absent") return none
          if (answer?._tag === "Text") {
            cache.putBlob(answer.oid, answer.content)
            return Effect.succeedSome({ path: item.path, oid: answer.oid, content: answer.content })
          }
          const oid =
            answer?._tag === "Elsewhere" ? (Option.getOrUndefined(answer.oid) ?? item.oid) : item.oid
          return oid === undefined ? byTree(at, item.path) : blob(oid, item.path)
        },
        { concurrency: settings.concurrency }
      )
    })

  return {
    file,
    atBranch,
    many: (at, files, concurrency) =>
      (settings.useGraphql && !(settings.readOnly && raws.serves())
        ? Stream.fromIterable(files).pipe(
            Stream.grouped(settings.graphqlBatchSize),
            Stream.mapEffect((group) => batch(at, Chunk.toReadonlyArray(group)), { concurrency }),
            Stream.flatMap(Stream.fromIterable)
          )
        : Stream.fromIterable(files).pipe(Stream.mapEffect(one(at), { concurrency }))
      ).pipe(Stream.filterMap((found) => found)),
    forgetValidator: (branch, path) => validators.delete(key(branch, path)),
    clear: () => {
      validators.clear()
      raws.reset()
    }
  }
}
