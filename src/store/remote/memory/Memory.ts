import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { emptyTree, type Oid } from "../../../domain/Oid.js"
import { type FieldsOf, flag, instanceOf, maybe, object, or, reader } from "../../../domain/Options.js"
import { NotFoundError, ValidationError } from "../../../domain/StoreError.js"
import { compareNames } from "../../../git/GitObject.js"
import { headOf, infoOf, logOf } from "../../../git/memory/MemoryLog.js"
import { type MemoryEntry, MemoryRepository, type MemoryTree } from "../../../git/memory/MemoryRepository.js"
import { applyChanges, diffTrees, listTree } from "../../../git/memory/MemoryTree.js"
import { type Blob, GitRemote, type GitRemoteService, type Head } from "../GitRemote.js"
import { type CommitReads, snapshotLater } from "../RemoteSnapshot.js"
import type { MemoryFaults } from "./MemoryFaults.js"
import { headNow, makeWrites, refName } from "./MemoryWrites.js"

export { MemoryRepository } from "../../../git/memory/MemoryRepository.js"
export type { MemoryFaults, WritePoint } from "./MemoryFaults.js"

export interface MemoryOptions {
  /** The repository to look at; a new one when not given. */
  readonly repository?: MemoryRepository | undefined
  readonly faults?: MemoryFaults | undefined
  /** Moves several branches in one step, as GitHub's GraphQL API does. */
  readonly moveBranches?: boolean | undefined
}

const read = reader(
  Schema.Struct({
    repository: maybe(instanceOf("a MemoryRepository", MemoryRepository)),
    faults: maybe(object as Schema.Schema<MemoryFaults>),
    moveBranches: or(flag, false)
  } satisfies FieldsOf<MemoryOptions>)
)

/** A remote over a repository in memory: everything the port promises but durability. */
export const make = (options: MemoryOptions = {}): Effect.Effect<GitRemoteService, ValidationError> =>
  Effect.map(read("Memory.layer", options), unsafeMake)

/** A store's remote in memory, of its own repository or of one that is shared. */
export const layer = (options: MemoryOptions = {}): Layer.Layer<GitRemote, ValidationError> =>
  Layer.effect(GitRemote, make(options))

const unsafeMake = (options: MemoryOptions): GitRemoteService => {
  const repository = options.repository ?? new MemoryRepository()
  const onRead = options.faults?.onRead

  const read = <A>(operation: string, evaluate: () => A | ValidationError | NotFoundError) =>
    Effect.zipRight(
      onRead === undefined ? Effect.void : onRead(operation),
      Effect.suspend(() => {
        const answer = evaluate()
        return answer instanceof ValidationError || answer instanceof NotFoundError
          ? Effect.fail(answer)
          : Effect.succeed(answer)
      })
    )
  const missing = (operation: string, oid: Oid) =>
    new NotFoundError({ operation, message: `${oid} is not a commit or tree of ${repository.name}` })
  const rootOf = (operation: string, at: Head | Oid): Oid | NotFoundError =>
    typeof at === "string" ? (repository.rootOf(at) ?? missing(operation, at)) : at.tree

  const blobAt = (root: Oid, path: string): Blob | undefined => {
    const entry = repository.lookup(root, path)
    const content = entry === undefined ? undefined : repository.blobs.get(entry.oid)
    return content === undefined ? undefined : { path, oid: entry!.oid, content: content.slice() }
  }

  const reads: CommitReads = {
    resolve: (ref) => read("resolve", () => Option.map(Option.fromNullable(repository.resolve(ref)), headOf)),
    tree: (at, path, treeOptions) =>
      read("tree", () => {
        const root = rootOf("GitRemote.tree", at)
        if (typeof root !== "string") return root
        const entry = repository.lookup(root, path)
        if (entry?.mode !== "040000") return Option.none()
        const entries = listTree(repository, entry.oid, treeOptions?.recursive === true)
        return Option.some({ oid: entry.oid, entries })
      }),
    file: (at, path) =>
      read("file", () => {
        const root = rootOf("GitRemote.file", at)
        return typeof root === "string" ? Option.fromNullable(blobAt(root, path)) : root
      }),
    blobs: (at, files) =>
      Stream.unwrap(
        read("blobs", () => {
          const root = rootOf("GitRemote.blobs", at)
          if (typeof root !== "string") return root
          return Stream.fromIterable(files).pipe(
            Stream.filterMap(({ oid, path }) => {
              if (oid === undefined) return Option.fromNullable(blobAt(root, path))
              const content = repository.blobs.get(oid)
              return content === undefined
                ? Option.none()
                : Option.some({ path, oid, content: content.slice() })
            })
          )
        })
      )
  }
  const head = (branch: string) => read("head", () => headNow(repository, branch))
  const writes = makeWrites(repository, reads, options.faults?.onWrite)

  return {
    ...reads,
    name: repository.name,
    probe: (branch) =>
      read("probe", () => {
        const names = Array.from(repository.refs.keys()).filter((name) => name.startsWith("refs/heads/"))
        return {
          repository: names.length === 0 ? "empty" : "present",
          branch: repository.refs.has(refName(branch)),
          defaultBranch: Option.fromNullable(repository.defaultBranch),
          write: Option.some(true)
        }
      }),
    head,
    snapshot: (branch) => snapshotLater(reads, () => head(branch)),
    snapshotAt: (ref) => snapshotLater(reads, () => reads.resolve(ref)),
    treeAfter: (at, path, changes) =>
      read("treeAfter", () => {
        const after = new MemoryRepository("treeAfter")
        const base = Option.getOrUndefined(at)?.tree
        const root = applyChanges(
          repository,
          base,
          changes,
          (entries) => after.writeTree(entries),
          (content) => after.writeBlob(content)
        )
        if (root instanceof ValidationError) return root
        let oid: Oid | undefined = root
        for (const segment of path === "" ? [] : path.split("/")) {
          const tree: MemoryTree | undefined =
            oid === undefined ? undefined : (after.trees.get(oid) ?? repository.trees.get(oid))
          const entry: MemoryEntry | undefined = tree?.get(segment)
          oid = entry?.mode === "040000" ? entry.oid : undefined
        }
        return Option.filter(Option.fromNullable(oid), (found) => found !== emptyTree)
      }),
    commit: writes.commit,
    commitNext: writes.commitNext,
    createBranch: writes.createBranch,
    advance: writes.advance,
    ...(options.moveBranches === true ? { moveBranches: writes.moveBranches } : {}),
    log: (at, path, logOptions) =>
      Stream.unwrap(
        read("log", () => {
          const oid = typeof at === "string" ? at : at.commit
          const from = repository.commits.get(oid)
          if (from === undefined) return missing("GitRemote.log", oid)
          return Stream.fromIterable({ [Symbol.iterator]: () => logOf(repository, from, path) }).pipe(
            Stream.map(infoOf),
            logOptions?.limit === undefined ? (all) => all : Stream.take(logOptions.limit)
          )
        })
      ),
    commitInfo: (oid) =>
      read("commitInfo", () => Option.map(Option.fromNullable(repository.commits.get(oid)), infoOf)),
    diff: (before, after, diffOptions) =>
      read("diff", () => {
        const path = diffOptions?.under ?? ""
        const entryOf = (at: Head | Oid) => {
          const root = rootOf("GitRemote.diff", at)
          return typeof root === "string" ? Either.right(repository.lookup(root, path)) : Either.left(root)
        }
        const left = Option.match(before, { onNone: () => Either.right(undefined), onSome: entryOf })
        const right = entryOf(after)
        if (Either.isLeft(left)) return left.left
        if (Either.isLeft(right)) return right.left
        return diffTrees(repository, left.right, right.right, path)
      }),
    isAncestor: (ancestor, descendant) =>
      read("isAncestor", () => repository.isAncestor(ancestor, descendant)),
    deleteBranch: (branch) => read("deleteBranch", () => void repository.refs.delete(refName(branch))),
    listBranches: (prefix) =>
      read("listBranches", () =>
        Array.from(repository.refs, ([name, commit]) => ({ name, commit }))
          .filter(({ name }) => name.startsWith(refName(prefix)))
          .map(({ commit, name }) => ({ name: name.slice("refs/heads/".length), commit }))
          .sort((a, b) => compareNames(a.name, b.name))
      ),
    budget: Effect.succeed([]),
    estimate: () => 0,
    invalidate: Effect.void
  }
}
