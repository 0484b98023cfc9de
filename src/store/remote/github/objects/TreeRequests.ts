import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RemoteError } from "../../../../domain/errors/StoreError.js"
import { isOid, type Oid } from "../../../../domain/identifiers/Oid.js"
import type { TreeEntry } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isMissing, isUnknownCommit } from "../client/ApiFailure.js"
import { type CallFailure, type Client, objectMedia } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"
import type { CachedTrees } from "./CachedTrees.js"
import { entryNamed, graft, type Listing, recursiveListing, shallowListing } from "./Listing.js"

type Failure = CallFailure | RemoteError

/** A directory with its validator. No listing: the cached one is current. */
export interface ListingReply {
  readonly listing: Listing | undefined
  readonly etag: string | undefined
  readonly generation: number
}

/** Requests for directories. A truncated reply is completed by reading the subdirectories. */
export interface TreeRequests {
  /** The whole tree in one request; none if the reply is truncated. */
  readonly everything: (tree: Oid) => Effect.Effect<Option.Option<Listing>, Failure>
  readonly fetch: (tree: string, path: string, recursive: boolean) => Effect.Effect<Listing, Failure>
  /**
   * Walks from an existing root down to a directory. A 404 for a path does not prove that it is missing, because a replica
   * without the root replies 404 for every path.
   */
  readonly walk: (
    root: Oid,
    path: string,
    recursive: boolean
  ) => Effect.Effect<Option.Option<Listing>, Failure>
  /** A directory of a branch or commit in as few requests as possible. None also if the revision does not exist. */
  readonly at: (
    revision: string,
    path: string,
    recursive: boolean,
    etag?: string
  ) => Effect.Effect<Option.Option<ListingReply>, Failure>
  /** The same for a tree, or for the tree of a commit. */
  readonly inTree: (
    tree: Oid,
    path: string,
    recursive: boolean
  ) => Effect.Effect<Option.Option<ListingReply>, Failure>
}

const unvalidated = (listing: Listing): ListingReply => ({ listing, etag: undefined, generation: 0 })

const tooMany = (path: string) =>
  new RemoteError({
    operation: "GitRemote.tree",
    reason: "Unsupported",
    path,
    message: `${path === "" ? "the root directory" : path} has more entries than the host lists`,
    hint: "spread the documents over directories with shardDepth"
  })

const entriesOf = (tree: typeof Api.getTree.reply.Type): ReadonlyArray<TreeEntry> =>
  tree.tree.map(({ mode, path, sha, size, type }) => ({ path, mode, kind: type, oid: sha, size }))

/** An entry of the Contents API, which returns no modes. */
const entryOf = (entry: {
  readonly type: string
  readonly name: string
  readonly sha: Oid
  readonly size: number
}): TreeEntry => {
  const base = { path: entry.name, oid: entry.sha }
  if (entry.type === "dir") return { ...base, mode: "040000", kind: "tree" }
  if (entry.type === "submodule") return { ...base, mode: "160000", kind: "commit" }
  return { ...base, mode: entry.type === "symlink" ? "120000" : "100644", kind: "blob", size: entry.size }
}

export const makeTreeRequests = (
  client: Client,
  cachedTrees: CachedTrees,
  viaContents: boolean
): TreeRequests => {
  /** Whether the host supports `REVISION:PATH`, which GitHub does without documenting it. */
  let scoped: boolean | undefined

  const request = (revision: string, recursive: boolean, etag?: string) =>
    client.call(Api.getTree, {
      path: { tree_sha: revision },
      query: { recursive: recursive ? 1 : undefined },
      etag
    })

  const complete = (
    revision: string,
    path: string,
    recursive: boolean,
    tree: typeof Api.getTree.reply.Type
  ): Effect.Effect<Listing, Failure> => {
    if (tree.truncated !== true) {
      return Effect.succeed(recursive ? recursiveListing(entriesOf(tree)) : shallowListing(entriesOf(tree)))
    }
    if (!recursive) return Effect.fail(tooMany(path))
    return Effect.gen(function* () {
      const top = yield* fetch(revision, path, false)
      const below = (top.directories.get("") ?? []).filter((entry) => entry.kind === "tree")
      const parts = yield* Effect.forEach(
        below,
        (entry) =>
          Effect.map(
            retryStaleReply(fetch(entry.oid, `${path}/${entry.path}`, true), isMissing),
            (listing) => [entry.path, listing] as const
          ),
        { concurrency: client.settings.concurrency }
      )
      return parts.reduce((listing, [name, part]) => graft(listing, name, part), top)
    })
  }

  const fetch: TreeRequests["fetch"] = (revision, path, recursive) =>
    Effect.flatMap(request(revision, recursive), (reply) =>
      complete(revision, path, recursive, Option.getOrThrow(reply.value))
    )

  /** The directory at a path, by way of its parents. `read` requests uncached ones. */
  const descend = (
    revision: string,
    path: string,
    recursive: boolean,
    read: typeof fetch
  ): Effect.Effect<Option.Option<Listing>, Failure> =>
    Effect.gen(function* () {
      let at = revision
      let above = ""
      for (const segment of path === "" ? [] : path.split("/")) {
        let entries = cachedTrees.entries(at as Oid)
        if (entries === undefined) {
          const listing = yield* read(at, above, false)
          cachedTrees.putDirectory(listing)
          entries = listing.directories.get("")
        }
        const entry = entries && entryNamed(entries, segment)
        if (entry?.kind !== "tree") return Option.none()
        at = entry.oid
        above = above === "" ? segment : `${above}/${segment}`
      }
      return Option.some(yield* read(at, path, recursive))
    })

  const walk: TreeRequests["walk"] = (root, path, recursive) =>
    descend(root, path, recursive, (...args) => retryStaleReply(fetch(...args), isMissing))

  const byTrees: TreeRequests["at"] = (revision, path, recursive, etag) => {
    const byDescent = descend(revision, path, recursive, fetch).pipe(
      Effect.map(Option.map(unvalidated)),
      Effect.catchIf(isMissing, () => Effect.succeed(Option.none<ListingReply>()))
    )
    if (path !== "" && scoped === false) return byDescent
    const name = path === "" ? revision : `${revision}:${path}`
    return request(name, recursive, etag).pipe(
      Effect.flatMap((reply): Effect.Effect<Option.Option<ListingReply>, Failure> => {
        if (path !== "") scoped = true
        const validator = { etag: reply.etag, generation: reply.generation }
        return Option.isNone(reply.value)
          ? Effect.succeedSome({ listing: undefined, ...validator })
          : Effect.map(complete(name, path, recursive, reply.value.value), (listing) =>
              Option.some({ listing, ...validator })
            )
      }),
      Effect.catchIf(isMissing, () =>
        path === "" || scoped === true
          ? Effect.succeed(Option.none<ListingReply>())
          : Effect.tap(byDescent, (found) =>
              Effect.sync(() => {
                if (Option.isSome(found)) scoped = false
              })
            )
      )
    )
  }

  /**
   * Reads a directory by the Contents API, which silently truncates at 1,000 entries. It returns no modes: if the entries do
   * not match the id of the directory, its tree is read.
   */
  const byContents = (revision: string, path: string) =>
    client.call(Api.getDirectory, { path: { path }, query: { ref: revision }, accept: objectMedia }).pipe(
      Effect.flatMap((reply): Effect.Effect<Option.Option<Listing | "cut">, Failure> => {
        const found = Option.getOrThrow(reply.value)
        const entries = "length" in found ? found : "entries" in found ? found.entries : undefined
        if (entries === undefined) return Effect.succeedNone
        if (entries.length >= 1000) return Effect.succeedSome("cut" as const)
        const listing = shallowListing(entries.map(entryOf))
        return "sha" in found && found.sha !== listing.oid
          ? Effect.asSome(retryStaleReply(fetch(found.sha, path, false), isMissing))
          : Effect.succeedSome(listing)
      })
    )

  const byContentsOrTrees: TreeRequests["at"] = (revision, path, recursive, etag) => {
    const asked = byContents(revision, path)
    return (isOid(revision) ? retryStaleReply(asked, isUnknownCommit) : asked).pipe(
      Effect.flatMap((found) =>
        Option.isSome(found) && found.value === "cut"
          ? byTrees(revision, path, recursive, etag)
          : Effect.succeed(
              Option.filterMap(found, (listing) =>
                listing === "cut" ? Option.none() : Option.some(unvalidated(listing))
              )
            )
      ),
      Effect.catchIf(
        (error) => isMissing(error) && !(isOid(revision) && isUnknownCommit(error)),
        () => Effect.succeedNone
      )
    )
  }

  return {
    fetch,
    walk,
    everything: (tree) =>
      Effect.map(request(tree, true), (reply) => {
        const found = Option.getOrThrow(reply.value)
        return found.truncated === true ? Option.none() : Option.some(recursiveListing(entriesOf(found)))
      }),
    inTree: (tree, path, recursive) => byTrees(tree, path, recursive),
    at: (revision, path, recursive, etag) =>
      (viaContents && !recursive ? byContentsOrTrees : byTrees)(revision, path, recursive, etag)
  }
}
