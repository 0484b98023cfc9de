import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { emptyTree } from "../../domain/Oid.js"
import { NotFoundError, type ReadError, ValidationError } from "../../domain/StoreError.js"
import * as Ulid from "../../domain/Ulid.js"
import { branchProblem } from "../../git/Names.js"
import { under } from "../DocumentPath.js"
import type { GitRemoteService, Head } from "../remote/GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import { Bounded } from "./Bounded.js"
import * as Derived from "./Derived.js"
import { emptyListing, type Listing, listAt, listingOf } from "./Listing.js"
import * as Pipeline from "./Pipeline.js"
import * as Precedence from "./Precedence.js"
import * as RepositorySettings from "./RepositorySettings.js"
import { branchSource, orBroken, pinnedSource, requireBranch } from "./Source.js"
import type { StoreCore } from "./StoreCore.js"

interface Shared {
  readonly remote: GitRemoteService
  readonly nextId: Effect.Effect<string>
  readonly precedence: Precedence.Precedence
}

/** The commit that a ref names; a missing one is an error. */
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

const assemble = (
  shared: Shared,
  options: ResolvedOptions,
  pinned: Option.Option<Head> | undefined,
  beliefs?: RepositorySettings.Beliefs
): StoreCore => {
  const { nextId, precedence, remote } = shared
  const { branch, cache } = options
  const free = remote.estimate({ _tag: "Read", documents: 1 }) === 0
  const moving = pinned === undefined ? branchSource(remote, branch, cache, free) : undefined
  const source = moving ?? pinnedSource(remote, pinned ?? Option.none(), cache)
  const repository = RepositorySettings.make(remote, options, source, free, beliefs)
  const derived = Derived.make(remote, options, repository)
  const write = Pipeline.make({ remote, options, branch, source, free, repository, derived })
  const listings = new Bounded<Listing>(3)

  const listing: StoreCore["listing"] = (collection) =>
    Effect.gen(function* () {
      const { settings } = yield* repository.now
      const directory = under(options.root, collection)
      const recursive = settings.shardDepth > 0
      if (!free && !source.pinned) {
        const found = yield* source.directory(directory, recursive)
        if (Option.isNone(found)) return { listing: emptyListing, at: emptyTree, prefix: "" }
        const { at, prefix, tree } = found.value
        return { listing: listingOf(tree, settings), at, prefix }
      }
      const head = yield* source.head
      if (Option.isNone(head)) return { listing: emptyListing, at: emptyTree, prefix: "" }
      const entry = (yield* repository.rootEntries(head.value)).get(collection)
      if (entry !== undefined && entry.kind !== "tree") {
        return yield* new ValidationError({
          operation: "Collection.list",
          path: directory,
          collection,
          message: `${directory} is a file: the collection ${collection} cannot be a directory there`,
          hint: "remove or rename the file in a commit, or use another name"
        })
      }
      const located = { at: head.value, prefix: `${directory}/` }
      if (entry === undefined) return { ...located, listing: emptyListing }
      const key = [entry.oid, settings.shardBy, settings.shardDepth, settings.shardWidth].join(":")
      const known = listings.get(key)
      if (known !== undefined) return { ...located, listing: known }
      return {
        ...located,
        listing: listings.set(key, yield* listAt(remote, head.value, directory, settings))
      }
    })

  return {
    remote,
    options,
    branch,
    source,
    free,
    derived,
    listing,
    settingsAt: repository.at,
    latestSettings: repository.latest,
    settings: repository.now,
    rootEntries: repository.rootEntries,
    nextId,
    precedence,
    write: (unit) => precedence.beside(branch, write(unit)),
    onBranch: (name) => assemble(shared, { ...options, branch: name, cache: options.viewCache() }, undefined),
    onFork: (name) =>
      assemble(
        shared,
        { ...options, branch: name, cache: options.viewCache() },
        undefined,
        repository.beliefs()
      ),
    at: (head) => assemble(shared, { ...options, readOnly: true, cache: options.viewCache() }, head),
    invalidate: (path) => {
      if (path !== undefined) return orBroken(() => cache.delete(source.cacheKey(path)), undefined)
      const emptied = orBroken(() => cache.clear, undefined)
      return Effect.all([emptied, repository.forget, moving?.forget ?? Effect.void, remote.invalidate], {
        discard: true
      })
    }
  }
}

/** The core of a store over a remote. A `ref` is resolved once, here. */
export const make = (
  remote: GitRemoteService,
  options: ResolvedOptions
): Effect.Effect<StoreCore, ReadError> =>
  Effect.gen(function* () {
    const nextId = yield* Ulid.generator
    const pinned =
      options.ref === undefined
        ? undefined
        : Option.some(yield* requireRef(remote, options.branch, options.ref, "Store.make"))
    return assemble({ remote, nextId, precedence: Precedence.make() }, options, pinned)
  })

/** The error for a name that no branch can have. */
export const branchError = (operation: string, branch: string): ValidationError | undefined => {
  const problem = branchProblem(branch)
  return problem === undefined
    ? undefined
    : new ValidationError({ operation, message: `branch ${JSON.stringify(branch)}: ${problem}` })
}
