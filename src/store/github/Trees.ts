import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import { RemoteError, ValidationError } from "../../domain/StoreError.js"
import type { Change, Head, Tree, TreeEntry } from "../GitRemote.js"
import * as Api from "./Api.js"
import type { CallFailure, Client } from "./Client.js"
import { makeValidators } from "./Conditional.js"
import { after, changesBelow, direct, graft, type Listing, toTree, touched, whole } from "./Listing.js"
import type { ObjectCache } from "./ObjectCache.js"

type Failure = CallFailure | RemoteError

/** Set while a commit is built: then everything about the tree is wanted, and one request may bring it all. */
export const building: FiberRef.FiberRef<boolean> = globalValue("chainstore/store/github/building", () =>
  FiberRef.unsafeMake(false)
)

/** Directories of commits, trees and branches, each read once. */
export interface Trees {
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
  /** Brings the whole tree of a commit that is being built upon, unless that has proved too much. */
  readonly prepare: (at: Head | Oid) => Effect.Effect<void, Failure>
  /** Which tree is known to lie at a path; null: none, undefined: not known. */
  readonly directory: (root: Oid, path: string) => Oid | null | undefined
  /** What is known of a path without asking: undefined when nothing is. */
  readonly locate: (at: Head | Oid, path: string) => Option.Option<TreeEntry> | undefined
  readonly after: (
    at: Option.Option<Head>,
    path: string,
    changes: ReadonlyArray<Change>
  ) => Effect.Effect<Option.Option<Oid>, Failure | ValidationError>
  /** Works out what is known of a commit of ours from what is known of its parent. */
  readonly derive: (parent: Head | undefined, changes: ReadonlyArray<Change>, made: Head) => void
  readonly learnCommit: (head: Head) => void
  /** The tree of a commit, where it is known. */
  readonly rootAt: (commit: Oid) => Option.Option<Oid>
  readonly forget: () => void
}

/** An answer with its validator; the listing is absent when the validator still stands. */
interface Scoped {
  readonly listing: Listing | undefined
  readonly etag: string | undefined
  readonly generation: number
}

const unvalidated = (listing: Listing): Scoped => ({ listing, etag: undefined, generation: 0 })

const isMissing = (error: Failure | ValidationError) =>
  error._tag === "ApiFailure" && (error.kind === "Missing" || error.kind === "EmptyRepository")

const tooMany = (path: string) =>
  new RemoteError({
    operation: "GitRemote.tree",
    reason: "Unsupported",
    path,
    message: `${path === "" ? "the root directory" : path} has more entries than the host lists`,
    hint: "spread the documents over directories with shardDepth"
  })

export const makeTrees = (client: Client, cache: ObjectCache, viaContents: boolean): Trees => {
  /** Whether the host knows `REVISION:PATH`; GitHub does, but does not document it. */
  let scoped: boolean | undefined
  const roots = new Map<Oid, Oid>()
  const validators = makeValidators<Tree>(client, 32)

  const rootOf = (at: Head | Oid): Oid => (typeof at === "string" ? (roots.get(at) ?? at) : at.tree)

  const remember = (root: Oid, path: string, listing: Listing) => {
    const at = (below: string) => (path === "" ? below : below === "" ? path : `${path}/${below}`)
    cache.putDirectory(root, path, listing.oid)
    const oids = new Map([["", listing.oid]])
    for (const [directory, entries] of listing.directories) {
      for (const entry of entries) {
        if (entry.kind !== "tree") continue
        const below = directory === "" ? entry.path : `${directory}/${entry.path}`
        oids.set(below, entry.oid)
        cache.putDirectory(root, at(below), entry.oid)
      }
    }
    for (const [directory, entries] of listing.directories) {
      const oid = oids.get(directory)
      if (oid !== undefined) cache.putTree(oid, entries)
    }
  }

  const known = (oid: Oid, recursive: boolean): Listing | undefined => {
    const directories = new Map<string, ReadonlyArray<TreeEntry>>()
    const waiting: Array<readonly [string, Oid]> = [["", oid]]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const entries = cache.tree(next[1])
      if (entries === undefined) return undefined
      directories.set(next[0], entries)
      if (!recursive) break
      for (const entry of entries) {
        if (entry.kind !== "tree") continue
        waiting.push([next[0] === "" ? entry.path : `${next[0]}/${entry.path}`, entry.oid])
      }
    }
    return { oid, directories }
  }

  /** A cached directory with the cached ones that changes go through; undefined when one of those is not known. */
  const knownAlong = (
    oid: Oid,
    entries: ReadonlyArray<TreeEntry>,
    changes: ReadonlyArray<Change>
  ): Listing | undefined => {
    const directories = new Map([["", entries]])
    for (const directory of [...touched(changes)].sort()) {
      if (directory === "") continue
      const slash = directory.lastIndexOf("/")
      const above = directories.get(slash < 0 ? "" : directory.slice(0, slash))
      const entry = above?.find((found) => found.path === directory.slice(slash + 1))
      if (entry?.kind !== "tree") continue
      const inner = cache.tree(entry.oid)
      if (inner === undefined) return undefined
      directories.set(directory, inner)
    }
    return { oid, directories }
  }

  const entriesOf = (tree: typeof Api.getTree.reply.Type): ReadonlyArray<TreeEntry> =>
    tree.tree.map(({ mode, path, sha, size, type }) => ({ path, mode, kind: type, oid: sha, size }))

  const request = (revision: string, recursive: boolean, etag?: string) =>
    client.call(Api.getTree, {
      path: { tree_sha: revision },
      query: { recursive: recursive ? 1 : undefined },
      etag
    })

  /** One tree, complete: where the host cuts it, it is walked. */
  const complete = (
    revision: string,
    path: string,
    recursive: boolean,
    tree: typeof Api.getTree.reply.Type
  ): Effect.Effect<Listing, Failure> => {
    if (tree.truncated !== true) {
      return Effect.succeed(recursive ? whole(entriesOf(tree)) : direct(entriesOf(tree)))
    }
    if (!recursive) return Effect.fail(tooMany(path))
    return Effect.gen(function* () {
      const top = yield* fetch(revision, path, false)
      const below = (top.directories.get("") ?? []).filter((entry) => entry.kind === "tree")
      const parts = yield* Effect.forEach(
        below,
        (entry) =>
          Effect.map(
            fetch(entry.oid, `${path}/${entry.path}`, true),
            (listing) => [entry.path, listing] as const
          ),
        { concurrency: client.settings.concurrency }
      )
      return parts.reduce((listing, [name, part]) => graft(listing, name, part), top)
    })
  }

  const fetch = (revision: string, path: string, recursive: boolean): Effect.Effect<Listing, Failure> =>
    Effect.flatMap(request(revision, recursive), (reply) =>
      complete(revision, path, recursive, Option.getOrThrow(reply.value))
    )

  /** From the root down, one directory a request: for hosts without `REVISION:PATH`, and to be sure of an absence. */
  const walk = (
    revision: string,
    path: string,
    recursive: boolean
  ): Effect.Effect<Option.Option<Listing>, Failure> =>
    Effect.gen(function* () {
      let at = revision
      for (const segment of path.split("/")) {
        const listing = yield* fetch(at, "", false)
        const entry = listing.directories.get("")?.find((found) => found.path === segment)
        if (entry?.kind !== "tree") return Option.none()
        at = entry.oid
      }
      return Option.some(yield* fetch(at, path, recursive))
    })

  /** The console's documented way: a directory by the Contents API, which cuts at 1,000 entries without a word. */
  const contents = (revision: string, path: string) =>
    client.call(Api.getContent, { path: { path }, query: { ref: revision } }).pipe(
      Effect.map((reply): Option.Option<Listing | "cut"> => {
        const found = Option.getOrThrow(reply.value)
        if (!("length" in found)) return Option.none()
        if (found.length >= 1000) return Option.some("cut")
        return Option.some(
          direct(
            found.map((entry): TreeEntry => {
              const base = { path: entry.name, oid: entry.sha }
              return entry.type === "dir"
                ? { ...base, mode: "040000", kind: "tree" }
                : entry.type === "submodule"
                  ? { ...base, mode: "160000", kind: "commit" }
                  : {
                      ...base,
                      mode: entry.type === "symlink" ? "120000" : "100644",
                      kind: "blob",
                      size: entry.size
                    }
            })
          )
        )
      })
    )

  const scopedTree = (
    revision: string,
    path: string,
    recursive: boolean,
    etag: string | undefined
  ): Effect.Effect<Option.Option<Scoped>, Failure> => {
    const byWalking: Effect.Effect<Option.Option<Scoped>, Failure> = walk(revision, path, recursive).pipe(
      Effect.map(Option.map(unvalidated)),
      Effect.catchIf(isMissing, () => Effect.succeed(Option.none()))
    )
    if (path !== "" && scoped === false) return byWalking
    const name = path === "" ? revision : `${revision}:${path}`
    return request(name, recursive, etag).pipe(
      Effect.flatMap((reply): Effect.Effect<Option.Option<Scoped>, Failure> => {
        if (path !== "") scoped = true
        const validator = { etag: reply.etag, generation: reply.generation }
        return Option.isNone(reply.value)
          ? Effect.succeed(Option.some({ listing: undefined, ...validator }))
          : Effect.map(complete(name, path, recursive, reply.value.value), (listing) =>
              Option.some({ listing, ...validator })
            )
      }),
      Effect.catchIf(
        isMissing,
        (): Effect.Effect<Option.Option<Scoped>, Failure> =>
          path === "" || scoped === true
            ? Effect.succeed(Option.none())
            : Effect.tap(byWalking, (found) =>
                Effect.sync(() => {
                  if (Option.isSome(found)) scoped = false
                })
              )
      )
    )
  }

  const scopedFetch = (
    revision: string,
    path: string,
    recursive: boolean,
    etag?: string
  ): Effect.Effect<Option.Option<Scoped>, Failure> =>
    viaContents && !recursive
      ? contents(revision, path).pipe(
          Effect.flatMap((found) =>
            Option.isSome(found) && found.value === "cut"
              ? scopedTree(revision, path, recursive, etag)
              : Effect.succeed(
                  Option.filterMap(found, (listing) =>
                    listing === "cut" ? Option.none() : Option.some(unvalidated(listing))
                  )
                )
          ),
          Effect.catchIf(isMissing, () => Effect.succeed(Option.none()))
        )
      : scopedTree(revision, path, recursive, etag)

  let wholeIsTooMuch = viaContents

  const prepare: Trees["prepare"] = (at) =>
    Effect.flatMap(FiberRef.get(building), (wanted) => {
      const root = rootOf(at)
      if (!wanted || wholeIsTooMuch || typeof at === "string" || cache.tree(root) !== undefined) {
        return Effect.void
      }
      return request(root, true).pipe(
        Effect.map((reply) => {
          const tree = Option.getOrThrow(reply.value)
          if (tree.truncated === true) {
            wholeIsTooMuch = true
            return
          }
          const listing = whole(entriesOf(tree))
          remember(root, "", listing)
          wholeIsTooMuch = listing.directories.size > 4000 || known(root, true) === undefined
        }),
        Effect.catchIf(isMissing, () => Effect.void)
      )
    })

  const list: Trees["list"] = (at, path, recursive) =>
    Effect.flatMap(prepare(at), () => {
      const root = rootOf(at)
      const oid = directory(root, path)
      if (oid === null) return Effect.succeedNone
      const held = oid === undefined ? undefined : known(oid, recursive)
      if (held !== undefined) return Effect.succeed(Option.some(held))
      const found =
        oid !== undefined && !(viaContents && !recursive && typeof at !== "string")
          ? Effect.map(fetch(oid, path, recursive), Option.some).pipe(
              Effect.catchIf(isMissing, () => Effect.succeedNone)
            )
          : Effect.map(
              scopedFetch(viaContents && typeof at !== "string" ? at.commit : root, path, recursive),
              Option.flatMapNullable((answer) => answer.listing)
            )
      return Effect.map(found, (listing) => {
        if (Option.isSome(listing)) remember(root, path, listing.value)
        else cache.putDirectory(root, path, null)
        return listing
      })
    })

  /** A directory below a root that is known, as far as the cache tells. */
  const directory = (root: Oid, path: string): Oid | null | undefined => {
    const noted = cache.directory(root, path)
    if (noted !== undefined) return noted
    let at = root
    for (const segment of path.split("/")) {
      const entries = cache.tree(at)
      if (entries === undefined) return undefined
      const entry = entries.find((found) => found.path === segment)
      if (entry?.kind !== "tree") return null
      at = entry.oid
    }
    return at
  }

  return {
    list,
    prepare,
    directory,
    atBranch: (branch, path, recursive) =>
      Effect.gen(function* () {
        const key = `${branch}:${path}:${recursive}`
        const before = yield* validators.find(key)
        const answer = yield* scopedFetch(branch, path, recursive, before?.etag)
        if (Option.isNone(answer)) return Option.none()
        const { etag, generation, listing } = answer.value
        if (listing === undefined) return Option.fromNullable(before?.value)
        for (const [directory, entries] of listing.directories) {
          if (directory === "") cache.putTree(listing.oid, entries)
        }
        const tree = toTree(listing, recursive)
        validators.keep(key, etag, generation, tree)
        return Option.some(tree)
      }),
    locate: (at, path) => {
      const slash = path.lastIndexOf("/")
      const parent = directory(rootOf(at), slash < 0 ? "" : path.slice(0, slash))
      if (parent === null) return Option.none()
      const entries = parent === undefined ? undefined : cache.tree(parent)
      const name = path.slice(slash + 1)
      const file = entries === undefined ? cache.file(rootOf(at), path) : undefined
      if (file === null) return Option.none()
      if (file !== undefined) return Option.some({ path: name, mode: "100644", kind: "blob", oid: file })
      return entries === undefined
        ? undefined
        : Option.fromNullable(entries.find((entry) => entry.path === name))
    },
    after: (at, path, changes) =>
      Effect.gen(function* () {
        const below = changesBelow(changes, path)
        const deep = below.some((change) => change.path.includes("/"))
        const listing = Option.isNone(at) ? Option.none() : yield* list(at.value, path, deep)
        if (below.length === 0) return Option.map(listing, (found) => found.oid)
        const made = after(Option.getOrUndefined(listing), below)
        return made instanceof ValidationError ? yield* Effect.fail(made) : Option.fromNullable(made.oid)
      }),
    derive: (parent, changes, made) => {
      roots.set(made.commit, made.tree)
      if (parent === undefined) return
      for (const [path, oid] of [...cache.directories(parent.tree), ["", parent.tree] as const]) {
        const below = changesBelow(changes, path)
        if (below.length === 0) {
          cache.putDirectory(made.tree, path, oid)
          continue
        }
        if (oid === null) continue
        const entries = cache.tree(oid)
        if (entries === undefined) continue
        const listing = knownAlong(oid, entries, below)
        const next = listing === undefined ? undefined : after(listing, below)
        if (next === undefined || next instanceof ValidationError) continue
        if (path === "" && next.oid !== made.tree) return
        for (const [id, list_] of next.made) cache.putTree(id, list_)
        cache.putDirectory(made.tree, path, next.oid ?? null)
      }
    },
    learnCommit: (head) => {
      roots.set(head.commit, head.tree)
      for (const oldest of roots.keys()) {
        if (roots.size <= 4096) break
        roots.delete(oldest)
      }
    },
    rootAt: (commit) => Option.fromNullable(roots.get(commit)),
    forget: () => validators.clear()
  }
}
