import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { NotFoundError, type ReadError } from "../../../domain/errors/StoreError.js"
import { emptyTree } from "../../../domain/identifiers/Oid.js"
import * as Ulid from "../../../domain/identifiers/Ulid.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import { under } from "../../DocumentPath.js"
import type { GitRemoteService, Head, Probe } from "../../remote/GitRemote.js"
import { snapshotOf } from "../../remote/RemoteSnapshot.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import * as Derived from "../derived/Derived.js"
import * as FileCache from "../snapshot/FileCache.js"
import { emptyListing, type Listing, listAt, listingOf } from "../snapshot/Listing.js"
import * as RepositorySettings from "../snapshot/RepositorySettings.js"
import { type BranchState, makeSnapshot, type ReadSet } from "../snapshot/Snapshot.js"
import * as BranchLocks from "./BranchLocks.js"
import type { CommitDependencies } from "./Commit.js"
import type { Edit } from "./DocumentEdit.js"
import type { StoreCore } from "./StoreCore.js"

/** Loaded on first use, so that a page that only reads does not contain it. */
const commitModule = lazyModule(() => import("./Commit.js"))

interface Shared {
  readonly remote: GitRemoteService
  readonly nextId: Effect.Effect<string>
  readonly branchLocks: BranchLocks.BranchLocks
}

const missing = (remote: GitRemoteService, branch: string, probe: Probe): NotFoundError | undefined => {
  const operation = "Store.open"
  if (probe.repository === "absent") {
    return new NotFoundError({
      operation,
      message: `${remote.name} does not exist, or these credentials may not see it`,
      hint: probe.hint ?? "check the repository's name; a private repository without rights looks absent"
    })
  }
  if (probe.repository === "empty" || probe.branch) return undefined
  const other = Option.match(probe.defaultBranch, {
    onNone: () => "create the branch first",
    onSome: (name) => `create it, or use the branch ${name}`
  })
  return new NotFoundError({
    operation,
    message: `${remote.name} has no branch ${branch}`,
    hint: probe.hint ?? other
  })
}

/** Fails unless the repository exists and has the branch, or is empty. */
export const requireBranch = (remote: GitRemoteService, branch: string): Effect.Effect<void, ReadError> =>
  Effect.flatMap(remote.probe(branch), (probe) => missing(remote, branch, probe) ?? Effect.void)

/** Resolves a ref; fails if it does not exist. */
export const requireRef = (
  remote: GitRemoteService,
  branch: string,
  ref: string,
  operation: string
): Effect.Effect<Head, ReadError> =>
  Effect.flatMap(remote.resolve(ref), (head) =>
    Option.isSome(head)
      ? Effect.succeed(head.value)
      : Effect.zipRight(
          Effect.catchTag(requireBranch(remote, branch), "NotFoundError", (error) =>
            error.message.includes("has no branch") ? Effect.void : error
          ),
          new NotFoundError({
            operation,
            message: `${remote.name} has no commit, tag or branch ${ref}`,
            hint: "give the whole id of a commit, or an existing tag or branch"
          })
        )
  )

/** What a core reads and writes. */
type CoreTarget =
  | { readonly _tag: "Branch" }
  /** A branch that starts at the head of another core's branch and shares its caches. */
  | {
      readonly _tag: "Fork"
      readonly seen: LruCache<RepositorySettings.RootSummary>
      readonly readSet: ReadSet | undefined
    }
  | {
      readonly _tag: "Commit"
      readonly head: Option.Option<Head>
      readonly readSet?: ReadSet | undefined
    }

const assemble = (shared: Shared, options: ResolvedOptions, place: CoreTarget): StoreCore => {
  const { branchLocks, nextId, remote } = shared
  const { branch } = options
  const isPinned = place._tag === "Commit"
  const cacheOwner =
    place._tag !== "Commit"
      ? `refs/heads/${branch}`
      : Option.isNone(place.head)
        ? ""
        : place.head.value.commit
  const cache = FileCache.make(options.cache, [remote.name, cacheOwner])
  const seen = place._tag === "Fork" ? place.seen : new LruCache<RepositorySettings.RootSummary>(256)
  const readSet = place._tag === "Branch" ? undefined : place.readSet
  const branchState: BranchState = { require: requireBranch(remote, branch), exists: false }
  const snapshot = () =>
    place._tag === "Commit"
      ? makeSnapshot(snapshotOf(remote, place.head), {
          cache: { files: cache, of: "commit" },
          readSet
        })
      : makeSnapshot(remote.snapshot(branch), {
          cache: { files: cache, of: "branch" },
          branch: branchState,
          readSet
        })
  const repository = RepositorySettings.make({
    remote,
    options,
    isOfThePast: isPinned && options.ref === undefined,
    seen
  })
  const derived = Derived.make(options)
  const parts: CommitDependencies = {
    remote,
    options,
    branch,
    repository,
    derived,
    cache,
    readSet,
    branchState,
    isPinned
  }
  const write = (edit: Edit) => Effect.flatMap(commitModule, ({ makeWrite }) => makeWrite(parts)(edit))
  const listings = new LruCache<Listing>(3)

  const listing: StoreCore["listing"] = (snapshot, collection) =>
    Effect.gen(function* () {
      const directory = under(options.root, collection)
      if (!snapshot.isPinned()) {
        const { settings } = yield* repository.forRead(snapshot)
        const found = yield* snapshot.directory(directory, { recursive: settings.shardDepth > 0 })
        if (Option.isNone(found)) return { settings, listing: emptyListing, at: emptyTree, prefix: "" }
        const { at, prefix, tree } = found.value
        return { settings, listing: yield* listingOf(tree, settings), at, prefix }
      }
      snapshot.readSet.directories.add(directory)
      yield* repository.forRead(snapshot)
      const at = yield* repository.at(snapshot)
      const { settings } = at
      const head = yield* snapshot.head
      if (Option.isNone(head)) return { settings, listing: emptyListing, at: emptyTree, prefix: "" }
      const problem = RepositorySettings.directoryProblem(options, at, "Collection.list", collection)
      if (problem !== undefined) return yield* problem
      const entry = at.entries.get(collection)
      const located = { settings, at: head.value, prefix: `${directory}/` }
      if (entry === undefined) return { ...located, listing: emptyListing }
      const key = [entry.oid, settings.shardBy, settings.shardDepth, settings.shardWidth].join(":")
      const cached = listings.get(key)
      if (cached !== undefined) return { ...located, listing: cached }
      return {
        ...located,
        listing: listings.set(key, yield* listAt(remote, head.value, directory, settings))
      }
    })

  const elsewhere = (name: string): ResolvedOptions => ({
    ...options,
    branch: name,
    cache: options.viewCache()
  })

  return {
    remote,
    options,
    branch,
    isPinned,
    snapshot,
    repository,
    settings: repository.forRead,
    listing,
    derived,
    cache,
    nextId,
    branchLocks,
    write: (edit) => branchLocks.shared(branch, write(edit)),
    onBranch: (name) => assemble(shared, elsewhere(name), { _tag: "Branch" }),
    onFork: (name, readSet) => assemble(shared, elsewhere(name), { _tag: "Fork", seen, readSet }),
    at: (head, readSet) =>
      assemble(
        shared,
        { ...options, readOnly: true, cache: options.viewCache() },
        { _tag: "Commit", head, readSet }
      ),
    invalidate: (path) =>
      path !== undefined
        ? cache.delete(path)
        : Effect.zipRight(
            cache.clear,
            Effect.suspend(() => {
              branchState.exists = false
              return remote.invalidate
            })
          )
  }
}

/** Makes the core of a store over a remote. `options.ref` is resolved here, once. */
export const makeCore = (
  remote: GitRemoteService,
  options: ResolvedOptions
): Effect.Effect<StoreCore, ReadError> =>
  Effect.gen(function* () {
    const nextId = yield* Ulid.generator
    const target: CoreTarget =
      options.ref === undefined
        ? { _tag: "Branch" }
        : {
            _tag: "Commit",
            head: Option.some(yield* requireRef(remote, options.branch, options.ref, "Store.make"))
          }
    return assemble({ remote, nextId, branchLocks: BranchLocks.make() }, options, target)
  })
