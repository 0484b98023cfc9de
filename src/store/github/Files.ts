import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import { RemoteError } from "../../domain/StoreError.js"
import * as GitObject from "../GitObject.js"
import type { Blob, GitRemoteService, Head, ReadPath } from "../GitRemote.js"
import * as Api from "./Api.js"
import { decodeBase64 } from "./Base64.js"
import type { Branches } from "./Branches.js"
import { readBulk } from "./Bulk.js"
import { type CallFailure, type Client, rawMedia } from "./Client.js"
import { makeValidators } from "./Conditional.js"
import type { ObjectCache } from "./ObjectCache.js"
import type { Trees } from "./Trees.js"

type Failure = CallFailure | RemoteError

/** Contents of files, by id, by commit and by branch. */
export interface Files {
  readonly blob: (oid: Oid, path: string) => Effect.Effect<Option.Option<Blob>, Failure>
  readonly file: (at: Head | Oid, path: string) => Effect.Effect<Option.Option<Blob>, Failure>
  readonly atBranch: (
    branch: string,
    path: string,
    options: NonNullable<Parameters<GitRemoteService["fileAtBranch"]>[2]>
  ) => Effect.Effect<Option.Option<ReadPath>, Failure>
  readonly many: (
    at: Head | Oid,
    files: ReadonlyArray<{ readonly path: string; readonly oid?: Oid | undefined }>,
    concurrency: number
  ) => Stream.Stream<Blob, Failure>
  readonly forgetFile: (branch: string, path: string) => void
  readonly forget: () => void
}

const isAbsent = (error: Failure) =>
  error._tag === "ApiFailure" && (error.kind === "Missing" || error.kind === "EmptyRepository")

const key = (branch: string, path: string) => `${branch}\0${path}`

export const makeFiles = (
  client: Client,
  cache: ObjectCache,
  trees: Trees,
  branches: Branches,
  head: (branch: string) => ReturnType<Branches["head"]>,
  isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, CallFailure>
): Files => {
  const { settings } = client
  const validators = makeValidators<Oid>(client, 50_000)

  const checked = (oid: Oid, path: string, bytes: Uint8Array): Effect.Effect<Blob, RemoteError> => {
    const proven = (content: Uint8Array) => {
      cache.putBlob(oid, content)
      return Effect.succeed({ path, oid, content })
    }
    if (GitObject.hash("blob", bytes) === oid) return proven(bytes)
    // A host that knows no raw media type sends the blob as JSON.
    const content = /"content"\s*:\s*"([^"]*)"/.exec(
      new TextDecoder().decode(bytes.subarray(0, 200_000_000))
    )?.[1]
    const decoded = content === undefined ? undefined : decodeBase64(content.replaceAll("\\n", ""))
    return decoded !== undefined && GitObject.hash("blob", decoded) === oid
      ? proven(decoded)
      : Effect.fail(
          new RemoteError({
            operation: "GitRemote.file",
            path,
            reason: "Corrupt",
            message: `the content of ${path} is not that of blob ${oid.slice(0, 7)}`,
            hint: "the answer was changed on its way: check proxies"
          })
        )
  }

  const blob: Files["blob"] = (oid, path) =>
    Effect.suspend(() => {
      const held = cache.blob(oid)
      if (held !== undefined) return Effect.succeed(Option.some({ path, oid, content: held }))
      return client.call(Api.getBlob, { path: { file_sha: oid }, accept: rawMedia }).pipe(
        Effect.flatMap((reply) => checked(oid, path, Option.getOrThrow(reply.value))),
        Effect.map(Option.some),
        Effect.catchIf(isAbsent, () => Effect.succeed(Option.none()))
      )
    })

  /** By the tree of its directory: for what the Contents API does not serve. */
  const byTree = (at: Head | Oid, path: string) => {
    const slash = path.lastIndexOf("/")
    return Effect.flatMap(trees.list(at, slash < 0 ? "" : path.slice(0, slash), false), (listing) => {
      const entry = Option.flatMapNullable(listing, (found) =>
        found.directories.get("")?.find((candidate) => candidate.path === path.slice(slash + 1))
      )
      return Option.isSome(entry) && entry.value.kind === "blob"
        ? blob(entry.value.oid, path)
        : Effect.succeed(Option.none())
    })
  }

  interface Contents {
    readonly blob: Option.Option<Blob>
    readonly notModified: boolean
    readonly etag: string | undefined
    readonly generation: number
  }

  const contents = (ref: string, path: string, etag?: string): Effect.Effect<Contents, Failure> =>
    client.call(Api.getContent, { path: { path }, query: { ref }, etag }).pipe(
      Effect.flatMap((reply) => {
        const rest = { notModified: false, etag: reply.etag, generation: reply.generation }
        if (Option.isNone(reply.value)) {
          return Effect.succeed({ ...rest, blob: Option.none(), notModified: true })
        }
        const file = reply.value.value
        if ("length" in file || file.type !== "file") return Effect.succeed({ ...rest, blob: Option.none() })
        const content =
          file.encoding === "base64" && (file.content !== "" || file.size === 0)
            ? decodeBase64(file.content ?? "")
            : undefined
        if (content !== undefined && GitObject.hash("blob", content) === file.sha) {
          cache.putBlob(file.sha, content)
          return Effect.succeed({ ...rest, blob: Option.some({ path, oid: file.sha, content }) })
        }
        return Effect.map(blob(file.sha, path), (found) => ({ ...rest, blob: found }))
      })
    )

  const none: Contents = { blob: Option.none(), notModified: false, etag: undefined, generation: 0 }

  const file: Files["file"] = (at, path) =>
    Effect.flatMap(trees.prepare(at), () => {
      const entry = trees.locate(at, path)
      if (entry !== undefined) {
        return Option.isSome(entry) && entry.value.kind === "blob"
          ? blob(entry.value.oid, path)
          : Effect.succeed(Option.none())
      }
      if (settings.readOnly && typeof at !== "string")
        return Effect.map(raw(at.commit, path), (found) => found.blob)
      if (settings.useGraphql) {
        const oid = typeof at === "string" ? at : at.commit
        return Effect.flatMap(readBulk(client, [{ at: oid, path }]), ([found]) =>
          found?._tag === "Text"
            ? Effect.sync(() => {
                cache.putBlob(found.oid, found.content)
                return Option.some({ path, oid: found.oid, content: found.content })
              })
            : found?._tag === "Elsewhere"
              ? byTree(at, path)
              : Effect.succeed(Option.none())
        )
      }
      return contents(typeof at === "string" ? at : at.commit, path).pipe(
        Effect.map((answer) => answer.blob),
        Effect.catchAll((error): Effect.Effect<Option.Option<Blob>, Failure> => {
          if (error._tag !== "ApiFailure") return Effect.fail(error)
          if (error.kind === "TooLarge") return byTree(at, path)
          if (isAbsent(error)) {
            return typeof at === "string" && /no commit found/i.test(error.message)
              ? byTree(at, path)
              : Effect.succeed(Option.none())
          }
          return Effect.fail(error)
        })
      )
    })

  const raw = (ref: string, path: string, etag?: string): Effect.Effect<Contents, Failure> =>
    client.raw(ref, path, etag).pipe(
      Effect.map((reply) => ({
        blob: Option.map(reply.value, (content) => ({ path, oid: GitObject.hash("blob", content), content })),
        notModified: Option.isNone(reply.value),
        etag: reply.etag,
        generation: reply.generation
      })),
      Effect.catchIf(isAbsent, () => Effect.succeed(none))
    )

  /** The head, unless a lagging replica told of a commit that ours stands on. */
  const newest = (branch: string): Effect.Effect<Option.Option<Head | Oid>, Failure> =>
    Effect.gen(function* () {
      const at = yield* head(branch)
      const own = branches.own(branch)
      if (own === undefined || Option.isNone(at) || at.value.commit === own) return at
      return (yield* isAncestor(at.value.commit, own)) ? Option.some(own) : at
    })

  const atBranch: Files["atBranch"] = (branch, path, { fresh, known }) =>
    Effect.gen(function* () {
      const name = key(branch, path)
      const kept = known === undefined || fresh === true ? undefined : yield* validators.find(name)
      const etag = kept !== undefined && kept.value === known?.oid ? kept.etag : undefined
      const pinned = settings.readOnly && (settings.pinRef || Option.isSome(settings.ref))
      const commit = pinned ? yield* head(branch) : Option.none()
      if (pinned && Option.isNone(commit)) return Option.none()
      const answer = yield* (
        settings.readOnly
          ? raw(
              Option.match(commit, { onNone: () => branch, onSome: (at) => at.commit as string }),
              path,
              etag
            )
          : contents(branch, path, etag)
      ).pipe(
        Effect.catchAll((error): Effect.Effect<Contents, Failure> => {
          if (isAbsent(error)) return Effect.succeed(none)
          if (error._tag !== "ApiFailure" || error.kind !== "TooLarge") return Effect.fail(error)
          return Effect.flatMap(head(branch), (at) =>
            Option.isNone(at)
              ? Effect.succeed(none)
              : Effect.map(byTree(at.value, path), (found) => ({ ...none, blob: found }))
          )
        })
      )
      const read: Option.Option<ReadPath> =
        answer.notModified && known !== undefined
          ? Option.some({ content: known.content, oid: known.oid, notModified: true })
          : Option.map(answer.blob, ({ content, oid }) => ({ content, oid, notModified: false }))
      const stale = yield* branches.isStale(
        branch,
        path,
        Option.map(read, ({ oid }) => oid)
      )
      if (stale && !settings.readOnly) {
        const at = yield* newest(branch)
        const found = Option.isNone(at) ? Option.none() : yield* file(at.value, path)
        return Option.map(found, ({ content, oid }) => ({ content, oid, notModified: false }))
      }
      if (Option.isSome(read) && !read.value.notModified) {
        validators.keep(name, answer.etag, answer.generation, read.value.oid)
      }
      return read
    })

  const one = (at: Head | Oid) => (wanted: { readonly path: string; readonly oid?: Oid | undefined }) =>
    settings.readOnly && typeof at !== "string"
      ? Effect.map(raw(at.commit, wanted.path), (found) => found.blob)
      : wanted.oid === undefined
        ? file(at, wanted.path)
        : blob(wanted.oid, wanted.path)

  const batch = (
    at: Head | Oid,
    wanted: ReadonlyArray<{ readonly path: string; readonly oid?: Oid | undefined }>
  ) =>
    Effect.gen(function* () {
      yield* trees.prepare(at)
      const commit = typeof at === "string" ? at : at.commit
      const placed = wanted.map(({ oid, path }) => {
        const entry = oid === undefined ? trees.locate(at, path) : undefined
        const known = oid ?? Option.getOrUndefined(entry ?? Option.none())?.oid
        return { path, oid: known, absent: oid === undefined && entry !== undefined && known === undefined }
      })
      const asked = placed.filter(
        ({ absent, oid }) => !absent && (oid === undefined || cache.blob(oid) === undefined)
      )
      const found = yield* readBulk(
        client,
        asked.map(({ oid, path }) => ({ at: commit, path, oid }))
      )
      const answers = new Map(asked.map((item, index) => [item, found[index]]))
      return yield* Effect.forEach(
        placed,
        (item): Effect.Effect<Option.Option<Blob>, Failure> => {
          const answer = answers.get(item)
          if (item.absent || answer?._tag === "Absent") return Effect.succeed(Option.none())
          if (answer?._tag === "Text") {
            cache.putBlob(answer.oid, answer.content)
            return Effect.succeed(Option.some({ path: item.path, oid: answer.oid, content: answer.content }))
          }
          const oid =
            answer?._tag === "Elsewhere" ? (Option.getOrUndefined(answer.oid) ?? item.oid) : item.oid
          return oid === undefined ? byTree(at, item.path) : blob(oid, item.path)
        },
        { concurrency: settings.concurrency }
      )
    })

  return {
    blob,
    file,
    atBranch,
    many: (at, files, concurrency) =>
      settings.useGraphql && !settings.readOnly
        ? Stream.fromIterable(files).pipe(
            Stream.grouped(settings.graphqlBatchSize),
            Stream.mapEffect((group) => batch(at, Chunk.toReadonlyArray(group)), { concurrency }),
            Stream.flatMap(Stream.fromIterable),
            Stream.filterMap((found) => found)
          )
        : Stream.fromIterable(files).pipe(
            Stream.mapEffect(one(at), { concurrency }),
            Stream.filterMap((found) => found)
          ),
    forgetFile: (branch, path) => validators.drop(key(branch, path)),
    forget: () => validators.clear()
  }
}
