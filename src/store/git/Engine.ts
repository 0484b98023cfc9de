import * as path from "node:path"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import { type AmbiguousWriteError, RemoteError, ValidationError } from "../../domain/StoreError.js"
import type { Change, CommitText, Head, NewCommit, Signature } from "../GitRemote.js"
import { CatFile } from "./CatFile.js"
import * as CommitQueue from "./CommitQueue.js"
import * as Creation from "./Creation.js"
import { attempt, attemptPromise, MissingObject, toRemoteError } from "./Fault.js"
import { unsettled } from "./Flush.js"
import { encodeCommit, hashObject } from "./GitObjects.js"
import { requireGit } from "./GitProcess.js"
import type { CommitObject, GitRepository, Person, TreeChange } from "./GitRepository.js"
import * as History from "./History.js"
import * as Maintenance from "./Maintenance.js"
import { type CacheSizes, ObjectDatabase } from "./ObjectDatabase.js"
import { Owner } from "./Owner.js"
import type { Packable } from "./PackBuilder.js"
import { branchRef, isFullRefName, isRefName } from "./RefName.js"
import { RefStore } from "./RefStore.js"
import * as TreeReading from "./TreeReading.js"
import { type NewTree, type PathEdit, rewrite } from "./TreeRewriter.js"

export interface EngineOptions {
  /** The bare repository. */
  readonly directory: string
  /** Create it when it is missing. Default false. */
  readonly create?: boolean | undefined
  /** The branch that HEAD names in a repository that is created. Default `main`. */
  readonly defaultBranch?: string | undefined
  /** `fsync` (default): an acknowledged write survives a power cut as far as the disk honours flushes. `none`: only a killed process. */
  readonly durability?: "fsync" | "none" | undefined
  /** Milliseconds to wait for a lock of another process. Default 10,000. */
  readonly timeout?: number | undefined
  /** Who commits, where a commit does not say. Default `Chainstore <chainstore@localhost>`. */
  readonly signature?: Signature | undefined
  readonly caches?: CacheSizes | undefined
  /** When the engine repacks by itself; false never. */
  readonly maintenance?:
    | false
    | Partial<Pick<Maintenance.MaintenanceOptions, "packs" | "looseObjects" | "quiet">>
    | undefined
}

const defaultSignature: Signature = { name: "Chainstore", email: "chainstore@localhost" }
/** Bytes of blobs in one chunk of a stream. */
const chunkBytes = 1024 * 1024
const chunkBlobs = 256
/** Changes hashed between two looks at what else there is to do. */
const slice = 1_000

/** Creates the bare repository unless it exists. */
export const create = (options: EngineOptions): Effect.Effect<void, RemoteError> => {
  const directory = path.resolve(options.directory)
  return attemptPromise("GitRepository.create", directory, async () => {
    if (Creation.isRepository(directory)) return
    await Creation.create(directory, options.defaultBranch ?? "main", options.durability !== "none")
  })
}

/** Opens one bare repository, for as long as the scope lasts. Everything staged is flushed when it closes. */
export const open = (options: EngineOptions): Effect.Effect<GitRepository, RemoteError, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = path.resolve(options.directory)
    const durable = options.durability !== "none"
    const signature = options.signature ?? defaultSignature
    yield* requireGit
    if (options.create === true) yield* create(options)
    const owner = new Owner(directory)
    yield* Effect.acquireRelease(
      attempt("GitRepository.open", directory, () => {
        Creation.checkFormat(directory)
        owner.open()
      }),
      () => Effect.ignore(Effect.try(() => owner.close()))
    )
    const objects = yield* Effect.acquireRelease(
      attempt(
        "GitRepository.open",
        directory,
        () => new ObjectDatabase(directory, owner, options.caches ?? {})
      ),
      (database) => Effect.sync(() => database.close())
    )
    const refs = new RefStore(directory, owner, options.timeout ?? 10_000)
    const catFile = yield* Effect.acquireRelease(
      Effect.sync(() => new CatFile(directory)),
      (process) => Effect.sync(() => process.close())
    )

    /** Runs native code; objects that only stock Git can find are fetched from it, and the code is run again. */
    const native = <A>(operation: string, run: () => A): Effect.Effect<A, RemoteError> =>
      Effect.catchAll(nativeChecked(operation, run), (error) =>
        error instanceof ValidationError ? Effect.die(error) : Effect.fail(error)
      )

    const nativeChecked = <A>(
      operation: string,
      run: () => A
    ): Effect.Effect<A, RemoteError | ValidationError> => {
      const from = (asked: Oid | undefined): Effect.Effect<A, RemoteError | ValidationError> =>
        Effect.suspend(() => {
          try {
            return Effect.succeed(run())
          } catch (cause) {
            if (cause instanceof ValidationError) return Effect.fail(cause)
            if (!(cause instanceof MissingObject) || cause.oid === asked) {
              return Effect.fail(toRemoteError(operation, directory, cause))
            }
            const oid = cause.oid as Oid
            return Effect.flatMap(
              attemptPromise(operation, directory, () => catFile.find(oid)),
              (object) => {
                if (object === undefined) return Effect.fail(toRemoteError(operation, directory, cause))
                objects.learn(oid, object)
                return from(oid)
              }
            )
          }
        })
      return from(undefined)
    }

    /** An object that may be missing, wherever it is. */
    const find = (operation: string, oid: Oid) =>
      Effect.flatMap(
        attempt(operation, directory, () => objects.find(oid)),
        (object) =>
          object !== undefined
            ? Effect.succeedSome(object)
            : Effect.map(
                attemptPromise(operation, directory, () => catFile.find(oid)),
                (found) => {
                  if (found !== undefined) objects.learn(oid, found)
                  return Option.fromNullable(found)
                }
              )
      )

    const rootOf = (oid: Oid): Oid => {
      const root = objects.rootOf(oid)
      if (root === undefined) throw new MissingObject(oid)
      return root
    }

    const headOf = (ref: string): Effect.Effect<Option.Option<Head>, RemoteError> =>
      native("GitRepository.head", () => {
        const commit = refs.read(ref)
        if (commit === undefined) return Option.none()
        const info = objects.commit(commit)
        if (info === undefined) throw new MissingObject(commit)
        return Option.some({ commit, tree: info.tree })
      })

    const personOf = (who: Signature | undefined, millis: number): Person => ({
      ...(who ?? signature),
      seconds: Math.floor(millis / 1000),
      offset: 0
    })

    const treeSource = { load: (oid: Oid) => objects.tree(oid), memo: objects.memo }

    const packableTrees = (trees: ReadonlyArray<NewTree>): Array<Packable> =>
      trees.map(({ base, oid, splices, tree }) => {
        objects.rememberTree(oid, tree)
        return {
          oid,
          type: "tree",
          content: tree.bytes,
          ...(base === undefined
            ? {}
            : { delta: { base, baseSize: objects.tree(base).bytes.length, splices } })
        }
      })

    /** The edits of a commit and the blobs it puts, hashed a slice at a time. */
    const editsOf = (operation: string, changes: ReadonlyArray<Change>, keep: boolean) =>
      Effect.gen(function* () {
        const edits: Array<PathEdit> = []
        const blobs: Array<Packable> = []
        for (let from = 0; from < changes.length; from += slice) {
          if (from > 0) yield* Effect.yieldNow()
          yield* nativeChecked(operation, () => {
            edits.length = from
            if (from === 0) blobs.length = 0
            const part = changes.slice(from, from + slice)
            for (const change of part) {
              if (change._tag === "Remove") {
                edits.push({ path: change.path, mode: "100644", oid: undefined })
              } else if (change._tag === "Link") {
                checkTarget(operation, change.path, change.oid, "100644")
                edits.push({ path: change.path, mode: "100644", oid: change.oid })
              } else {
                const oid = hashObject("blob", change.content)
                if (keep) blobs.push({ oid, type: "blob", content: change.content })
                edits.push({ path: change.path, mode: "100644", oid })
              }
            }
          })
        }
        return { edits, blobs }
      })

    const checkTarget = (operation: string, at: string, oid: Oid, mode: TreeChange["mode"]) => {
      if (mode === "160000") return
      const wanted = mode === "040000" ? "tree" : "blob"
      const info = objects.info(oid)
      if (info?.type === wanted) return
      throw new ValidationError({
        operation,
        path: at,
        message: `${oid} is ${info === undefined ? "not in the repository" : `a ${info.type}, not a ${wanted}`}`,
        hint: "Write the object first"
      })
    }

    const draft = (
      head: Option.Option<Head>,
      commit: NewCommit
    ): Effect.Effect<CommitQueue.Draft, RemoteError | ValidationError> =>
      Effect.gen(function* () {
        const operation = "GitRepository.commitNext"
        const { blobs, edits } = yield* editsOf(operation, commit.changes, true)
        const now = yield* Clock.currentTimeMillis
        return yield* nativeChecked(operation, () => {
          checkText(operation, commit)
          const base = Option.getOrUndefined(Option.map(head, (at) => at.tree))
          const made = rewrite(treeSource, base, edits, { operation, directories: false })
          const committer = personOf(commit.committer ?? commit.author, now)
          const content = encodeCommit({
            tree: made.root,
            parents: Option.toArray(Option.map(head, (at) => at.commit)),
            author: personOf(commit.author, now),
            committer,
            message: commit.message.endsWith("\n") ? commit.message : `${commit.message}\n`
          })
          const oid = hashObject("commit", content)
          objects.rememberCommit(oid, content)
          const put = new Map<string, Oid>()
          for (const [i, change] of commit.changes.entries()) {
            if (change._tag !== "Remove") put.set(change.path, edits[i]!.oid!)
          }
          return {
            committed: { commit: oid, tree: made.root, blobs: put },
            objects: [...blobs, ...packableTrees(made.trees), { oid, type: "commit" as const, content }]
          }
        })
      })

    const maintenance = yield* Maintenance.make({
      directory,
      owner,
      objects,
      packs: 50,
      looseObjects: 2_000,
      quiet: 1_000,
      ...(options.maintenance === false ? { packs: 0 } : options.maintenance)
    })

    const queue = yield* CommitQueue.make({
      directory,
      objects,
      refs,
      durable,
      headOf,
      draft,
      flushed: maintenance.flushed
    })

    /** Git only sees what was flushed. */
    const visible = (...oids: ReadonlyArray<Oid>) =>
      Effect.suspend(() => (oids.some(queue.isStaged) ? queue.drain : Effect.void))

    const checkBranch = (operation: string, branch: string) =>
      isRefName(branchRef(branch)) && isRefName(branch)
        ? Effect.void
        : Effect.fail(
            new ValidationError({
              operation,
              message: `${JSON.stringify(branch)} cannot be the name of a branch`,
              hint: "See `git check-ref-format`"
            })
          )

    const objectAt = (revision: string): Oid | undefined => {
      if (/^[0-9a-f]{40}$/.test(revision)) return objects.peel(revision as Oid)
      if (!isRefName(revision)) return undefined
      const names =
        revision === "HEAD"
          ? ["HEAD"]
          : revision.startsWith("refs/")
            ? [revision]
            : [`refs/heads/${revision}`, `refs/tags/${revision}`, `refs/${revision}`]
      for (const name of names) {
        const oid = refs.read(name)
        if (oid !== undefined) return objects.peel(oid)
      }
      if (!/^[0-9a-f]{4,39}$/.test(revision)) return undefined
      const found = objects.startingWith(revision)
      if (found.length === 1) return objects.peel(found[0]!)
      const commits = found.filter((oid) => objects.info(oid)?.type === "commit")
      return commits.length === 1 ? commits[0] : undefined
    }

    const updateRef: GitRepository["updateRef"] = (name, expected, next) => {
      const operation = "GitRepository.updateRef"
      if (!isFullRefName(name)) {
        return Effect.fail(
          new RemoteError({
            operation,
            reason: "Denied",
            message: `${JSON.stringify(name)} is no whole name of a ref`,
            hint: "Use a name such as refs/heads/main"
          })
        )
      }
      const update = Effect.flatMap(
        attemptPromise(operation, directory, async (signal) => {
          const target = Option.getOrUndefined(next)
          if (target !== undefined && objects.info(target) === undefined) throw new MissingObject(target)
          return refs.update(name, Option.getOrUndefined(expected), target, durable, signal)
        }),
        (outcome): Effect.Effect<void, RefMoved | AmbiguousWriteError> => {
          switch (outcome._tag) {
            case "Done":
              return Effect.void
            case "Moved":
              return Effect.fail(
                new RefMoved({ ref: name, expected, actual: Option.fromNullable(outcome.actual) })
              )
            case "Unsettled": {
              const tip = Option.getOrThrow(next)
              return Effect.fail(unsettled(operation, directory, { branch: name, tip }, outcome.cause))
            }
          }
        }
      )
      return name.startsWith("refs/heads/") ? queue.inTurn(name.slice("refs/heads/".length), update) : update
    }

    const repository: GitRepository = {
      directory,
      object: (oid) =>
        Effect.map(
          find("GitRepository.object", oid),
          Option.map(({ content, type }) => ({ type, content: new Uint8Array(content) }))
        ),
      objectInfo: (oid) =>
        Effect.flatMap(
          attempt("GitRepository.objectInfo", directory, () => objects.info(oid)),
          (info) =>
            info !== undefined
              ? Effect.succeedSome(info)
              : Effect.map(
                  find("GitRepository.objectInfo", oid),
                  Option.map(({ content, type }) => ({ type, size: content.length }))
                )
        ),
      blobs: (oids) =>
        Stream.unfoldChunkEffect(0, (from) =>
          from >= oids.length
            ? Effect.succeedNone
            : native("GitRepository.blobs", () => {
                const blobs: Array<{ readonly oid: Oid; readonly content: Uint8Array }> = []
                let bytes = 0
                let at = from
                for (; at < oids.length && at - from < chunkBlobs && bytes < chunkBytes; at++) {
                  const oid = oids[at]!
                  const { content } = objects.read(oid)
                  bytes += content.length
                  blobs.push({ oid, content: new Uint8Array(content) })
                }
                return Option.some([Chunk.unsafeFromArray(blobs), at] as const)
              })
        ),
      writeObject: (type, content) =>
        Effect.zipLeft(
          attemptPromise("GitRepository.writeObject", directory, () =>
            objects.writeLoose(type, content, durable)
          ),
          maintenance.flushed
        ),
      writeCommit: (commit: CommitObject) =>
        Effect.zipLeft(
          attemptPromise("GitRepository.writeCommit", directory, () =>
            objects.writeLoose("commit", encodeCommit(commit), durable)
          ),
          maintenance.flushed
        ),
      resolve: (revision) => native("GitRepository.resolve", () => Option.fromNullable(objectAt(revision))),
      commit: (oid) =>
        Effect.flatMap(
          attempt("GitRepository.commit", directory, () => objects.commit(oid)),
          (known) =>
            known !== undefined
              ? Effect.succeedSome(known)
              : Effect.flatMap(find("GitRepository.commit", oid), (found) =>
                  Option.isSome(found)
                    ? attempt("GitRepository.commit", directory, () =>
                        Option.fromNullable(objects.commit(oid))
                      )
                    : Effect.succeedNone
                )
        ),
      lookup: (root, at) =>
        native("GitRepository.lookup", () =>
          Option.fromNullable(TreeReading.lookup(objects, rootOf(root), at))
        ),
      tree: (root, at, how) =>
        native("GitRepository.tree", () =>
          Option.fromNullable(
            TreeReading.list(objects, rootOf(root), at, {
              recursive: how?.recursive === true,
              trees: how?.trees === true
            })
          )
        ),
      writeTree: (base, changes) =>
        Effect.gen(function* () {
          const operation = "GitRepository.writeTree"
          const made = yield* nativeChecked(operation, () => {
            for (const change of changes) {
              if (Option.isSome(change.oid))
                checkTarget(operation, change.path, change.oid.value, change.mode)
            }
            return rewrite(
              treeSource,
              Option.getOrUndefined(Option.map(base, rootOf)),
              changes.map(({ mode, oid, path: at }) => ({ path: at, mode, oid: Option.getOrUndefined(oid) })),
              { operation, directories: true }
            )
          })
          yield* attemptPromise(operation, directory, async () => {
            for (const { tree } of made.trees) await objects.writeLoose("tree", tree.bytes, durable)
          })
          yield* maintenance.flushed
          return made.root
        }),
      treeAfter: (base, at, changes) =>
        Effect.gen(function* () {
          const operation = "GitRepository.treeAfter"
          const { edits } = yield* editsOf(operation, changes, false)
          return yield* nativeChecked(operation, () => {
            const root = Option.getOrUndefined(Option.map(base, rootOf))
            const made = rewrite(treeSource, root, edits, { operation, directories: false })
            const fresh = new Map(made.trees.map(({ oid, tree }) => [oid, tree]))
            const load = (oid: Oid) => fresh.get(oid) ?? objects.tree(oid)
            return Option.fromNullable(TreeReading.directoryId(load, made.root, at))
          })
        }),
      ref: (name) =>
        attempt("GitRepository.ref", directory, () =>
          isFullRefName(name) || name === "HEAD" ? Option.fromNullable(refs.read(name)) : Option.none()
        ),
      refs: (prefix) => attempt("GitRepository.refs", directory, () => refs.list(prefix)),
      updateRef,
      defaultBranch: attempt("GitRepository.defaultBranch", directory, () => refs.head()),
      commitNext: (branch, build) =>
        Effect.zipRight(checkBranch("GitRepository.commitNext", branch), queue.commitNext(branch, build)),
      exclusively: queue.exclusively,
      log: (from, how) => Stream.unwrap(Effect.as(visible(from), History.log(directory, from, how ?? {}))),
      diff: (before, after, under) =>
        native("GitRepository.diff", () =>
          TreeReading.diff(
            objects,
            Option.getOrUndefined(Option.map(before, rootOf)),
            rootOf(after),
            under ?? ""
          )
        ),
      isAncestor: (ancestor, descendant) =>
        Effect.zipRight(
          visible(ancestor, descendant),
          History.isAncestor(directory, objects, ancestor, descendant)
        ),
      mergeBase: (a, b) => Effect.zipRight(visible(a, b), History.mergeBase(directory, a, b)),
      maintain: maintenance.maintain
    }
    return repository
  })

const checkText = (operation: string, text: CommitText): void => {
  const problem = text.message.includes("\0")
    ? "The commit message contains a NUL"
    : [text.author, text.committer].some((who) => who !== undefined && /[<>\n\0]/.test(who.name + who.email))
      ? "An author or committer contains <, >, a newline or a NUL"
      : undefined
  if (problem !== undefined) throw new ValidationError({ operation, message: problem })
}
