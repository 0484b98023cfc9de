import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { RemoteError } from "../../domain/errors/StoreError.js"
import type { Head, Signature } from "../Commit.js"
import { defaultSignature } from "../CommitDraft.js"
import { branchError, branchRef, isFullRefName } from "../Names.js"
import { type RevisionSource, resolveRevision } from "../Revision.js"
import { makeTreeReader } from "../TreeReading.js"
import * as BareRepository from "./BareRepository.js"
import { attempt, attemptPromise, MissingObject } from "./files/EngineError.js"
import * as TemporaryFile from "./files/TemporaryFile.js"
import * as ChildWork from "./lease/ChildWork.js"
import { Lease } from "./lease/Lease.js"
import * as Health from "./maintenance/Health.js"
import * as Maintenance from "./maintenance/Maintenance.js"
import { MaintenanceHistory } from "./maintenance/MaintenanceHistory.js"
import * as History from "./objects/History.js"
import * as NativeReads from "./objects/NativeReads.js"
import { type CacheSizes, ObjectDatabase } from "./objects/ObjectDatabase.js"
import * as ObjectReads from "./objects/ObjectReads.js"
import { ingest } from "./objects/PackIngest.js"
import type { GitRepository } from "./port/GitRepository.js"
import { CatFile } from "./processes/CatFile.js"
import { keepCommonDirectory } from "./processes/CommonDirectory.js"
import { requireGit } from "./processes/GitVersion.js"
import * as RepositoryFormat from "./RepositoryFormat.js"
import { RefStore } from "./refs/RefStore.js"
import * as Drafts from "./writes/CommitDrafts.js"
import * as CommitQueue from "./writes/CommitQueue.js"
import type { Publish } from "./writes/Flush.js"
import * as ObjectWrites from "./writes/ObjectWrites.js"
import * as RefUpdate from "./writes/RefUpdate.js"

export interface EngineOptions {
  /** The bare repository. */
  readonly directory: string
  /** Creates the repository if it is missing. Default false. */
  readonly create?: boolean | undefined
  /** The default branch of a new repository. Default `main`. */
  readonly defaultBranch?: string | undefined
  /**
   * `fsync` (default): an acknowledged write survives a power cut, if the disk honours flushes. `none`: it survives a killed
   * process only.
   */
  readonly durability?: "fsync" | "none" | undefined
  /** Milliseconds to wait for a lock of another process. Default 10,000. */
  readonly timeout?: number | undefined
  /** The default author of commits. Default `Chainstore <chainstore@localhost>`. */
  readonly signature?: Signature | undefined
  readonly caches?: CacheSizes | undefined
  /** Publishes commits to another repository before they are stored here. Used by a clone. */
  readonly publish?: Publish | undefined
  /** Awaited before commits are published. */
  readonly throttle?: Effect.Effect<void> | undefined
  /** When the engine repacks automatically; false: never. */
  readonly maintenance?:
    | false
    | Partial<Pick<Maintenance.MaintenanceOptions, "packs" | "looseObjects" | "quiet">>
    | undefined
  /** Runs while a maintenance does that the engine has begun. */
  readonly whileMaintained?: Effect.Effect<never> | undefined
  /** The history of the maintenance by earlier engines of the repository. */
  readonly maintenanceHistory?: MaintenanceHistory | undefined
}

/** Milliseconds to wait for the removal of the files of failed Git children. */
const cleanupTimeout = 1_000

/** Creates the bare repository, unless it exists. */
export const create = (options: EngineOptions): Effect.Effect<void, RemoteError> => {
  const directory = path.resolve(options.directory)
  return attemptPromise("GitRepository.create", directory, async () => {
    if (BareRepository.isRepository(directory)) return
    await BareRepository.create(directory, options.defaultBranch ?? "main", options.durability !== "none")
  })
}

/** Opens a bare repository until the scope closes. Staged commits are flushed when it closes. */
export const open = (options: EngineOptions): Effect.Effect<GitRepository, RemoteError, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = path.resolve(options.directory)
    const durable = options.durability !== "none"
    yield* requireGit
    if (options.create === true) yield* create(options)
    yield* Effect.acquireRelease(
      Effect.sync(() => keepCommonDirectory(directory)),
      (release) => Effect.ignore(Effect.try(release))
    )
    const lease = new Lease(directory)
    yield* Effect.acquireRelease(
      attempt("GitRepository.open", directory, () => {
        RepositoryFormat.checkFormat(directory)
        lease.open()
      }),
      () => Effect.ignore(Effect.try(() => lease.close()))
    )
    yield* Maintenance.dropDamaged(directory, "GitRepository.open", lease)
    const objects = yield* Effect.acquireRelease(
      attempt(
        "GitRepository.open",
        directory,
        () => new ObjectDatabase(directory, lease, options.caches ?? {})
      ),
      (database) => Effect.sync(() => database.close())
    )
    const refs = new RefStore(directory, lease, options.timeout ?? 10_000)
    const catFile = yield* Effect.acquireRelease(
      Effect.sync(() => new CatFile(directory)),
      (process) => Effect.sync(() => process.close())
    )

    const native = NativeReads.make(directory, objects, catFile)
    const drafts = Drafts.make(objects, native, options.signature ?? defaultSignature)

    const headOf = (ref: string): Effect.Effect<Option.Option<Head>, RemoteError> =>
      native.run("GitRepository.head", () => {
        const commit = refs.read(ref)
        if (commit === undefined) return Option.none()
        const info = objects.commit(commit)
        if (info === undefined) throw new MissingObject(commit)
        return Option.some({ commit, tree: info.tree })
      })

    const maintenance = yield* Maintenance.make({
      directory,
      lease,
      objects,
      durable,
      packs: 50,
      looseObjects: 2_000,
      quiet: 1_000,
      meanwhile: options.whileMaintained ?? Effect.never,
      history: options.maintenanceHistory ?? new MaintenanceHistory(),
      ...(options.maintenance === false ? { packs: 0 } : options.maintenance)
    })

    const queue = yield* CommitQueue.make({
      directory,
      objects,
      refs,
      durable,
      publish: options.publish,
      throttle: options.throttle,
      headOf,
      draft: drafts.draft,
      flushed: maintenance.flushed
    })

    const checkBranch = (operation: string, branch: string) => {
      const invalid = branchError(operation, branch)
      return invalid === undefined ? Effect.void : Effect.fail(invalid)
    }

    const revisions: RevisionSource = {
      ref: (name) => {
        const oid = refs.read(name)
        if (oid === undefined) return undefined
        const found = objects.peel(oid)
        if (found === undefined) throw new MissingObject(oid)
        return found
      },
      peel: (oid) => objects.peel(oid),
      startingWith: (digits) => objects.startingWith(digits),
      parents: (oid) => objects.commit(oid)?.parents
    }

    /** Starts maintenance that is due because of the files of Git children. */
    const childrenEnded = Effect.zipRight(
      Effect.ignore(Effect.try(() => objects.files.recount())),
      maintenance.flushed
    )

    /** Runs an effect that starts writing Git children. */
    const withChildren = <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) =>
      Effect.ensuring(ChildWork.withChildren(lease, operation, directory, effect), childrenEnded)

    /** Runs an effect that starts writing Git children. If it fails, it waits for the removal of their files. */
    const withClearedChildren = <A, E, R>(operation: string, effect: Effect.Effect<A, E, R>) =>
      Effect.onError(withChildren(operation, effect), () =>
        Effect.promise(() => lease.waitUntilCleared(cleanupTimeout))
      )

    const refUpdates = { directory, objects, refs, durable, settled: queue.settled }
    const updateWithoutMutex = RefUpdate.make({ ...refUpdates, withRefMutex: (_, update) => update })

    const repository: GitRepository = {
      name: directory,
      directory,
      ...ObjectReads.make(directory, objects, native),
      ...ObjectWrites.make({
        directory,
        objects,
        native,
        drafts,
        durable,
        settled: queue.settled,
        written: maintenance.flushed
      }),
      ...makeTreeReader(objects, {
        rootOf: native.rootOf,
        run: (method, body) => native.run(`GitRepository.${method}`, body),
        runSteps: (method, start) => native.runSteps(`GitRepository.${method}`, start)
      }),
      resolve: (revision) =>
        native.run("GitRepository.resolve", () => Option.fromNullable(resolveRevision(revisions, revision))),
      commit: (oid) =>
        Effect.flatMap(
          native.run("GitRepository.commit", () => objects.namedCommit(oid)),
          (known) =>
            known !== undefined
              ? Effect.succeedSome(known)
              : Effect.flatMap(native.find("GitRepository.commit", oid), (found) =>
                  Option.isSome(found)
                    ? attempt("GitRepository.commit", directory, () =>
                        Option.fromNullable(objects.commit(oid))
                      )
                    : Effect.succeedNone
                )
        ),
      // Resolving has just checked that the commit was not pruned, so it is not looked for on the disk again.
      commitAt: (revision) =>
        native.run("GitRepository.commitAt", () => {
          const oid = resolveRevision(revisions, revision)
          return Option.fromNullable(oid === undefined ? undefined : objects.commit(oid))
        }),
      ref: (name) =>
        attempt("GitRepository.ref", directory, () =>
          isFullRefName(name) || name === "HEAD" ? Option.fromNullable(refs.read(name)) : Option.none()
        ),
      refs: (prefix) => attempt("GitRepository.refs", directory, () => refs.list(prefix)),
      updateRef: RefUpdate.make({ ...refUpdates, withRefMutex: queue.withRefMutex }),
      withRefMutex: (name, effect) => queue.withRefMutex(name, effect(updateWithoutMutex)),
      defaultBranch: attempt("GitRepository.defaultBranch", directory, () => refs.head()),
      branches: attempt("GitRepository.branches", directory, () => ({
        names: refs.list(branchRef("")).map(({ name }) => name.slice(branchRef("").length)),
        defaultBranch: refs.head()
      })),
      commitNext: (branch, build) =>
        Effect.zipRight(checkBranch("GitRepository.commitNext", branch), queue.commitNext(branch, build)),
      ingest: (pack, most) => {
        const operation = "GitRepository.ingest"
        return withClearedChildren(operation, ingest({ directory, maxBytes: most, operation }, pack))
      },
      withGitChildren: (effect) => withClearedChildren("GitRepository.withGitChildren", effect),
      withExclusiveAccess: (effect) =>
        queue.withExclusiveAccess(withChildren("GitRepository.withExclusiveAccess", effect)),
      log: (from, how) =>
        Stream.unwrap(
          Effect.as(queue.settled(from), History.log(directory, objects, native, from, how ?? {}))
        ),
      isAncestor: (ancestor, descendant) =>
        Effect.zipRight(
          queue.settled(ancestor, descendant),
          History.isAncestor(directory, objects, ancestor, descendant)
        ),
      mergeBases: (a, b) => History.mergeBases(native, objects, a, b),
      temporaryFile: TemporaryFile.make(path.join(directory, "chainstore")),
      health: Effect.zipRight(
        Maintenance.dropDamaged(directory, "GitRepository.health", lease),
        Health.examine("GitRepository.health", directory, objects)
      ),
      maintain: maintenance.maintain
    }
    return repository
  })
