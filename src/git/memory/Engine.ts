import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { makeKeyedMutex } from "../../domain/concurrency/KeyedMutex.js"
import * as Steps from "../../domain/concurrency/Steps.js"
import { RefMoved } from "../../domain/errors/RefMoved.js"
import { RemoteError, ValidationError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import * as Timestamp from "../../domain/time/Timestamp.js"
import type { Change, CommitInfo, Committed, Head, NewCommit } from "../Commit.js"
import { linkTargetError, makeCommitObject, missingMergeParentError, putBlobOids } from "../CommitDraft.js"
import { commitLog } from "../CommitLog.js"
import * as GitObject from "../GitObject.js"
import { encodeMapTree, type MapTree } from "../MapTree.js"
import { editMapTree, toPathEdits } from "../MapTreeEdit.js"
import { MapTreeNode } from "../MapTreeNode.js"
import { branchError, branchRef, commitTextError } from "../Names.js"
import type { Repository } from "../Repository.js"
import { directoryAt, makeTreeReader } from "../TreeReading.js"
import type { MemoryCommit, MemoryRepository } from "./MemoryRepository.js"

/** The number of blobs in one chunk of a stream. */
const chunkBlobs = 256

// Loaded at the first merge, so that a web page with a store in memory is smaller.
const loadMergeBases = lazyModule(() => import("../MergeBases.js"))

/** Thrown by synchronous code if an object is missing. */
class MissingObject {
  constructor(readonly oid: Oid) {}
}

const infos = new WeakMap<MemoryCommit, CommitInfo>()

const infoOf = (commit: MemoryCommit): CommitInfo => {
  const info = infos.get(commit) ?? GitObject.parseCommit(commit.oid, GitObject.encodeCommit(commit))!
  infos.set(commit, info)
  return info
}

/**
 * Implements `Repository` in memory. Several may share one `MemoryRepository`, as several processes share a repository on a disk:
 * the writers of each one queue, and test-and-set of the refs detects the commits of the others.
 */
export const open = (memory: MemoryRepository): Repository => {
  const { name } = memory
  const { withLock } = makeKeyedMutex()

  /** Runs synchronous code. */
  const run = <A>(method: string, body: () => A): Effect.Effect<A, RemoteError> =>
    Effect.suspend(() => {
      try {
        return Effect.succeed(body())
      } catch (cause) {
        return failed(method, cause)
      }
    })

  const failed = (method: string, cause: unknown): Effect.Effect<never, RemoteError> =>
    cause instanceof MissingObject
      ? new RemoteError({
          operation: `Repository.${method}`,
          reason: "Corrupt",
          path: name,
          message: `Object ${cause.oid} is missing`
        })
      : Effect.die(cause)

  const rootOf = (oid: Oid): Oid => {
    const root = memory.rootOf(oid)
    if (root === undefined) throw new MissingObject(oid)
    return root
  }

  const treeOf = (oid: Oid): MapTree => {
    const tree = memory.trees.get(oid)
    if (tree === undefined) throw new MissingObject(oid)
    return tree
  }

  const blobOf = (oid: Oid): Uint8Array => {
    const content = memory.blobs.get(oid)
    if (content === undefined) throw new MissingObject(oid)
    return content.slice()
  }

  const contentOf = (oid: Oid): Uint8Array | undefined => {
    const commit = memory.commits.get(oid)
    if (commit !== undefined) return GitObject.encodeCommit(commit)
    const tree = memory.trees.get(oid)
    return tree === undefined ? memory.blobs.get(oid)?.slice() : encodeMapTree(tree)
  }

  const headOf = (branch: string): Option.Option<Head> => {
    const oid = memory.refs.get(branchRef(branch))
    if (oid === undefined) return Option.none()
    const commit = memory.commits.get(oid)
    if (commit === undefined) throw new MissingObject(oid)
    return Option.some({ commit: oid, tree: commit.tree })
  }

  const movedFrom = (ref: string, expected: Option.Option<Oid>): RefMoved | undefined => {
    const actual = memory.refs.get(ref)
    return actual === Option.getOrUndefined(expected)
      ? undefined
      : new RefMoved({ ref, expected, actual: Option.fromNullable(actual) })
  }

  const linkError = (operation: string, changes: ReadonlyArray<Change>): ValidationError | undefined => {
    for (const change of changes) {
      if (change._tag !== "Link") continue
      const invalid = linkTargetError(
        operation,
        change.path,
        change.oid,
        change.mode ?? "100644",
        memory.typeOf(change.oid)
      )
      if (invalid !== undefined) return invalid
    }
    return undefined
  }

  const mergesError = (operation: string, { merges = [] }: NewCommit): ValidationError | undefined => {
    const missing = merges.find((oid) => !memory.commits.has(oid))
    return missing === undefined ? undefined : missingMergeParentError(operation, missing)
  }

  /** Makes a commit and moves its branch, or does neither. */
  const commitOn = (
    operation: string,
    branch: string,
    head: Option.Option<Head>,
    commit: NewCommit,
    millis: number
  ): Committed | RefMoved | RemoteError | ValidationError => {
    const moved = movedFrom(
      branchRef(branch),
      Option.map(head, (at) => at.commit)
    )
    const invalid =
      moved ??
      commitTextError(operation, commit) ??
      linkError(operation, commit.changes) ??
      mergesError(operation, commit) ??
      (Option.isNone(head) ? nameConflict(operation, branchRef(branch), memory.refs.keys()) : undefined)
    if (invalid !== undefined) return invalid
    const edits = toPathEdits(commit.changes, (content) => memory.writeBlob(content))
    const base = Option.getOrUndefined(head)?.tree
    const tree = editMapTree(memory.trees, base, edits, operation, (made) => memory.writeTree(made))
    if (tree instanceof ValidationError) return tree
    const { oid } = memory.writeCommit(makeCommitObject(head, tree, commit, millis))
    memory.refs.set(branchRef(branch), oid)
    return { commit: oid, tree, blobs: putBlobOids(commit, (index) => edits[index]?.oid) }
  }

  /** The error for a new ref whose name is a path prefix of another one, or the other way round. */
  const nameConflict = (operation: string, made: string, refs: Iterable<string>): RemoteError | undefined => {
    for (const other of refs) {
      const isAbove = made.startsWith(`${other}/`)
      if (!isAbove && !other.startsWith(`${made}/`)) continue
      return new RemoteError({
        operation,
        reason: "Denied",
        path: name,
        message: `${made} cannot exist beside ${isAbove ? "a ref that is its prefix" : "refs below it"}`,
        hint: "Choose another name"
      })
    }
    return undefined
  }

  /** Runs an update of refs while it holds the mutexes of their branches, acquired in one order. */
  const withBranchMutexes = <A, E>(
    refs: ReadonlyArray<string>,
    effect: Effect.Effect<A, E>
  ): Effect.Effect<A, E> =>
    [...new Set(refs)]
      .filter((ref) => ref.startsWith(branchRef("")))
      .sort(GitObject.compareNames)
      .reduceRight((inner, ref) => withLock(ref.slice(branchRef("").length))(inner), effect)

  const updateRefs: NonNullable<Repository["updateRefs"]> = (updates) =>
    withBranchMutexes(
      updates.map((update) => update.name),
      Effect.suspend((): Effect.Effect<void, RefMoved | RemoteError> => {
        for (const { expected, name: ref } of updates) {
          const moved = movedFrom(ref, expected)
          if (moved !== undefined) return moved
        }
        const refs = new Map(memory.refs)
        for (const { name: ref, next } of updates) {
          if (Option.isSome(next)) refs.set(ref, next.value)
          else refs.delete(ref)
        }
        for (const { expected, name: ref, next } of updates) {
          if (Option.isSome(expected) || Option.isNone(next)) continue
          const invalid = nameConflict("Repository.updateRef", ref, refs.keys())
          if (invalid !== undefined) return invalid
        }
        for (const { name: ref, next } of updates) {
          if (Option.isSome(next)) memory.refs.set(ref, next.value)
          else memory.refs.delete(ref)
        }
        return Effect.void
      })
    )

  return {
    name,

    object: (oid) =>
      run("object", () => {
        const type = memory.typeOf(oid)
        const content = contentOf(oid)
        return type === undefined || content === undefined ? Option.none() : Option.some({ type, content })
      }),

    blobs: (oids) =>
      Stream.unfoldChunkEffect(0, (from) => {
        const to = Math.min(oids.length, from + chunkBlobs)
        return from === to
          ? Effect.succeedNone
          : run("blobs", () => {
              const blobs = oids.slice(from, to).map((oid) => ({ oid, content: blobOf(oid) }))
              return Option.some([Chunk.unsafeFromArray(blobs), to] as const)
            })
      }),

    resolve: (revision) => run("resolve", () => Option.fromNullable(memory.resolve(revision)?.oid)),

    commit: (oid) => run("commit", () => Option.map(Option.fromNullable(memory.commits.get(oid)), infoOf)),

    ...makeTreeReader(
      { tree: (oid) => new MapTreeNode(treeOf(oid)) },
      {
        rootOf,
        run,
        runSteps: (method, start) => Effect.catchAllDefect(Steps.run(start), (cause) => failed(method, cause))
      }
    ),

    treeAfter: (base, path, changes) =>
      Effect.flatMap(
        run("treeAfter", () => {
          const operation = "Repository.treeAfter"
          const invalid = linkError(operation, changes)
          if (invalid !== undefined) return invalid
          const root = Option.getOrUndefined(Option.map(base, rootOf))
          const created = new Map<Oid, MapTree>()
          const after = editMapTree(
            memory.trees,
            root,
            toPathEdits(changes, (content) => GitObject.hash("blob", content)),
            operation,
            (tree) => {
              const oid = memory.treeOid(tree)
              created.set(oid, tree)
              return oid
            }
          )
          if (after instanceof ValidationError) return after
          const find = (tree: Oid, entry: string) => (created.get(tree) ?? memory.trees.get(tree))?.get(entry)
          return Option.fromNullable(directoryAt(find, after, path))
        }),
        (answer) => (answer instanceof ValidationError ? answer : Effect.succeed(answer))
      ),

    ref: (ref) => Effect.sync(() => Option.fromNullable(memory.refs.get(ref))),

    refs: (prefix) =>
      Effect.sync(() =>
        Array.from(memory.refs, ([ref, oid]) => ({ name: ref, oid }))
          .filter((ref) => ref.name.startsWith(prefix))
          .sort((a, b) => GitObject.compareNames(a.name, b.name))
      ),

    updateRef: (ref, expected, next) => updateRefs([{ name: ref, expected, next }]),

    updateRefs,

    defaultBranch: Effect.sync(() => memory.defaultBranch ?? "main"),
    branches: Effect.sync(() => ({
      names: Array.from(memory.refs.keys()).flatMap((ref) =>
        ref.startsWith(branchRef("")) ? ref.slice(branchRef("").length) : []
      ),
      defaultBranch: memory.defaultBranch ?? "main"
    })),

    commitNext: (branch, build) =>
      Effect.gen(function* () {
        const operation = "Repository.commitNext"
        const invalid = branchError(operation, branch)
        if (invalid !== undefined) return yield* invalid
        return yield* withLock(branch)(
          Effect.gen(function* () {
            const head = yield* run("commitNext", () => headOf(branch))
            const { commit, result } = yield* build(head)
            if (Option.isNone(commit)) return { committed: Option.none(), result }
            const millis = yield* Timestamp.now(operation)
            const created = commitOn(operation, branch, head, commit.value, millis)
            if (
              created instanceof RefMoved ||
              created instanceof RemoteError ||
              created instanceof ValidationError
            )
              return yield* created
            return { committed: Option.some(created), result }
          })
        )
      }),

    log: (from, { limit, path = "" } = {}) =>
      Stream.unwrap(
        run("log", () => {
          if (!memory.commits.has(from)) throw new MissingObject(from)
          const source = {
            find: (oid: Oid) => memory.commits.get(oid),
            age: ({ sequence }: MemoryCommit) => sequence,
            entry: ({ tree }: MemoryCommit) => memory.lookup(tree, path)?.oid
          }
          const log = Stream.fromIterable({ [Symbol.iterator]: () => commitLog(source, from, path !== "") })
          return Stream.map(limit === undefined ? log : Stream.take(log, limit), infoOf)
        })
      ),

    isAncestor: (ancestor, descendant) =>
      Effect.sync(
        () =>
          memory.commits.has(ancestor) &&
          memory.commits.has(descendant) &&
          memory.isAncestor(ancestor, descendant)
      ),

    mergeBases: (a, b) =>
      Effect.flatMap(loadMergeBases, ({ mergeBases }) =>
        run("mergeBases", () =>
          Steps.runSync(
            mergeBases(
              (oid) => {
                const commit = memory.commits.get(oid)
                return commit && { parents: commit.parents, date: commit.committer.seconds }
              },
              (oid) => new MissingObject(oid),
              a,
              b
            )
          )
        )
      )
  }
}
