import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Option from "effect/Option"
import type { RemoteError } from "../../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../../domain/identifiers/Oid.js"
import type { Head, Tree } from "../../GitRemote.js"
import { isMissing } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"
import { makeValidatorCache } from "../client/ValidatorCache.js"
import type { CachedTrees } from "./CachedTrees.js"
import { type Listing, shallowListing, toTree } from "./Listing.js"
import { bytesOf } from "./ObjectCache.js"
import { makeTreeRequests } from "./TreeRequests.js"

type Failure = CallFailure | RemoteError

/** Set while an edit builds a commit. It reads many directories, so one request reads the whole tree. */
export const prefersWholeTree: FiberRef.FiberRef<boolean> = globalValue(
  "chainstore/store/remote/github/building",
  () => FiberRef.unsafeMake(false)
)

/** Reads directories of commits, trees and branches, each once. */
export interface TreeReader {
  readonly list: (
    at: Head | Oid,
    path: string,
    recursive: boolean
  ) => Effect.Effect<Option.Option<Listing>, Failure>
  readonly atBranch: (
    branch: string,
    path: string,
    recursive: boolean
  ) => Effect.Effect<Option.Option<Tree>, Failure>
  /** Reads the whole tree of the parent of a commit, unless that turned out to be too large. */
  readonly prefetchWholeTree: (at: Head | Oid) => Effect.Effect<void, Failure>
  readonly clear: () => void
}

/** A tree with more directories is not read as a whole. */
const mostDirectories = 4000

export const makeTreeReader = (
  client: Client,
  cachedTrees: CachedTrees,
  viaContents: boolean
): TreeReader => {
  const reads = makeTreeRequests(client, cachedTrees, viaContents)
  const validators = makeValidatorCache<Tree>(client, client.settings.objectCacheBytes, ({ entries }) =>
    bytesOf(entries)
  )
  let wholeIsTooMuch = viaContents

  const prepare: TreeReader["prefetchWholeTree"] = (at) =>
    Effect.flatMap(FiberRef.get(prefersWholeTree), (wanted) => {
      if (!wanted || wholeIsTooMuch || typeof at === "string" || cachedTrees.entries(at.tree) !== undefined) {
        return Effect.void
      }
      return Effect.map(retryStaleReply(reads.everything(at.tree), isMissing), (found) => {
        if (Option.isSome(found)) cachedTrees.putListing(at.tree, "", found.value)
        wholeIsTooMuch =
          Option.isNone(found) ||
          found.value.directories.size > mostDirectories ||
          cachedTrees.listing(at.tree, true) === undefined
      })
    })

  /** The commit for the Contents API, which does not accept tree ids. */
  const commitOf = (at: Head | Oid): Oid | undefined =>
    !viaContents
      ? undefined
      : typeof at !== "string"
        ? at.commit
        : Option.isSome(cachedTrees.rootAt(at))
          ? at
          : undefined

  /** Reads a directory whose id is unknown. If the root exists, a 404 is confirmed by walking down from the root. */
  const find = (at: Head | Oid, root: Oid, path: string, recursive: boolean) =>
    Effect.gen(function* () {
      const commit = commitOf(at)
      const answer = yield* commit === undefined
        ? reads.inTree(root, path, recursive)
        : reads.at(commit, path, recursive)
      const exists = typeof at !== "string" || Option.isSome(cachedTrees.rootAt(at))
      if (Option.isNone(answer) && exists && commit === undefined)
        return yield* reads.walk(root, path, recursive)
      return Option.flatMapNullable(answer, ({ listing }) => listing)
    })

  const list: TreeReader["list"] = (at, path, recursive) =>
    Effect.gen(function* () {
      const root = cachedTrees.rootOf(at)
      if (root === emptyTree) return path === "" ? Option.some(shallowListing([])) : Option.none()
      yield* prepare(at)
      const oid = cachedTrees.directoryAt(root, path)
      if (oid === null) return Option.none()
      const held = oid === undefined ? undefined : cachedTrees.listing(oid, recursive)
      if (held !== undefined) return Option.some(held)
      const byContents = !recursive && commitOf(at) !== undefined
      const found =
        oid === undefined || byContents || (path === "" && typeof at === "string")
          ? yield* find(at, root, path, recursive)
          : Option.some(yield* retryStaleReply(reads.fetch(oid, path, recursive), isMissing))
      if (Option.isSome(found)) cachedTrees.putListing(root, path, found.value)
      return found
    })

  return {
    list,
    prefetchWholeTree: prepare,
    atBranch: (branch, path, recursive) =>
      Effect.gen(function* () {
        const key = `${branch}:${path}:${recursive}`
        const before = yield* validators.get(key)
        const answer = yield* reads.at(branch, path, recursive, before?.etag)
        if (Option.isNone(answer)) return Option.none()
        const { etag, generation, listing } = answer.value
        if (listing === undefined) return Option.fromNullable(before?.value)
        cachedTrees.putDirectory(listing)
        const tree = toTree(listing, recursive)
        validators.put(key, etag, generation, tree)
        return Option.some(tree)
      }),
    clear: () => validators.clear()
  }
}
