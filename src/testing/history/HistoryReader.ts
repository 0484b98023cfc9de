import { Chunk, Effect, Either, Option, Stream } from "effect"
import type { StoredDocument } from "../../domain/document/Document.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { CommitInfo, GitRemoteService, Head, RemoteFailure } from "../../store/remote/GitRemote.js"
import { keyOf, type State } from "../program/StoreModel.js"

/** One commit of a branch as it lies in the repository, read without the store. */
export interface Snapshot {
  readonly info: CommitInfo
  readonly documents: State
  /** Index and manifest files, by path below the root. */
  readonly derived: ReadonlyMap<string, Json>
  /** Ids of the collections' trees. */
  readonly trees: ReadonlyMap<string, Oid>
}

/** The commits of a branch from the oldest on, by first parents. */
export const readHistory = (
  remote: GitRemoteService,
  branch: string,
  root: string
): Effect.Effect<ReadonlyArray<Snapshot>, RemoteFailure> =>
  Effect.gen(function* () {
    const head = yield* remote.head(branch)
    if (Option.isNone(head)) return []
    const infos: Array<CommitInfo> = []
    let next: Option.Option<Oid> = Option.some(head.value.commit)
    while (Option.isSome(next)) {
      const info: CommitInfo = Option.getOrThrow(yield* remote.commitInfo(next.value))
      infos.push(info)
      next = Option.fromNullable(info.parents[0])
    }
    const contents = new Map<Oid, Json>()
    return yield* Effect.forEach(infos.reverse(), (info) => readSnapshot(remote, info, root, contents))
  })

/** One commit of a branch, with the contents that are known already. */
export const readSnapshot = (
  remote: GitRemoteService,
  info: CommitInfo,
  root: string,
  contents: Map<Oid, Json>
) =>
  Effect.gen(function* () {
    const at: Head = { commit: info.commit, tree: info.tree }
    const tree = yield* remote.tree(at, root, { recursive: true })
    const direct = yield* remote.tree(at, root)
    const files = Option.match(tree, { onNone: () => [], onSome: (found) => found.entries }).filter((entry) =>
      entry.path.endsWith(".json")
    )
    const prefix = root === "" ? "" : `${root}/`
    const unknown = files.filter((file) => !contents.has(file.oid))
    const blobs = yield* Stream.runCollect(
      remote.blobs(
        at,
        unknown.map((file) => ({ path: prefix + file.path, oid: file.oid }))
      )
    )
    for (const blob of Chunk.toReadonlyArray(blobs)) {
      const text = new TextDecoder().decode(blob.content)
      contents.set(
        blob.oid,
        Either.getOrElse(
          Either.try(() => JSON.parse(text) as Json),
          () => null
        )
      )
    }
    const documents = new Map<string, StoredDocument>()
    const derived = new Map<string, Json>()
    for (const file of files) {
      const content = contents.get(file.oid) ?? null
      const segments = file.path.split("/")
      if (file.path.startsWith("_")) derived.set(file.path, content)
      else if (segments.length > 1) {
        const id = segments[segments.length - 1]!.slice(0, -".json".length)
        documents.set(keyOf(segments[0]!, id), content as JsonObject as StoredDocument)
      }
    }
    const trees = new Map(
      Option.match(direct, { onNone: () => [], onSome: (found) => found.entries })
        .filter((entry) => entry.kind === "tree" && !entry.path.startsWith("_"))
        .map((entry) => [entry.path, entry.oid])
    )
    return { info, documents, derived, trees } satisfies Snapshot
  })
