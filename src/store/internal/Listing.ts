import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import type { Layout } from "../../domain/Settings.js"
import { idAt, placeOf } from "../DocumentPath.js"
import type { Blob, GitRemoteService, Head, RemoteFailure, Tree } from "../GitRemote.js"

/** The documents of a collection at one commit, in order of id. */
export interface Listing {
  readonly tree: Oid | undefined
  readonly ids: ReadonlyArray<string>
  /** Blob ids, in the order of `ids`. */
  readonly oids: ReadonlyArray<Oid>
  /** Paths below the collection's directory, in the order of `ids`. */
  readonly paths: ReadonlyArray<string>
}

/** A listing, and where its files can be read: `prefix` is the collection's directory as `at` sees it. */
export interface LocatedListing {
  readonly listing: Listing
  readonly at: Head | Oid
  readonly prefix: string
}

export const emptyListing: Listing = { tree: undefined, ids: [], oids: [], paths: [] }

interface Found {
  readonly id: string
  readonly oid: Oid
  readonly path: string
}

/** Where somebody put copies of a document into other directories, the one in its own place is the document. */
const distinct = (sorted: ReadonlyArray<Found>, layout: Layout): ReadonlyArray<Found> => {
  if (!sorted.some(({ id }, at) => sorted[at + 1]?.id === id)) return sorted
  const kept: Array<Found> = []
  for (const found of sorted) {
    const before = kept.at(-1)
    if (before?.id !== found.id) kept.push(found)
    else if (placeOf(layout, found.id) === found.path) kept[kept.length - 1] = found
  }
  return kept
}

/** The documents among the entries of a collection's directory. Ids are ASCII, so units order as code points do. */
export const listingOf = (tree: Tree, layout: Layout): Listing => {
  const files: Array<Found> = []
  for (const { kind, oid, path } of tree.entries) {
    if (kind !== "blob") continue
    const id = idAt(layout, path)
    if (id !== undefined) files.push({ id, oid, path })
  }
  files.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
  const found = layout.shardDepth === 0 ? files : distinct(files, layout)
  return {
    tree: tree.oid,
    ids: found.map(({ id }) => id),
    oids: found.map(({ oid }) => oid),
    paths: found.map(({ path }) => path)
  }
}

/** The part of a listing that `limit` and `after` ask for. */
export const slice = (
  listing: Listing,
  limit: number | undefined,
  after: string | null | undefined
): Listing => {
  let from = 0
  if (after !== undefined && after !== null) {
    let high = listing.ids.length
    while (from < high) {
      const middle = (from + high) >> 1
      if (listing.ids[middle]! <= after) from = middle + 1
      else high = middle
    }
  }
  const to = limit === undefined ? listing.ids.length : Math.min(listing.ids.length, from + limit)
  if (from === 0 && to === listing.ids.length) return listing
  return {
    tree: listing.tree,
    ids: listing.ids.slice(from, to),
    oids: listing.oids.slice(from, to),
    paths: listing.paths.slice(from, to)
  }
}

/** The files of a listing, read in bulk and in order; `prefix` is the collection's directory as `at` sees it. */
export const contents = (
  remote: GitRemoteService,
  at: Head | Oid,
  prefix: string,
  listing: Listing,
  concurrency: number
): Stream.Stream<Blob, RemoteFailure> =>
  listing.ids.length === 0
    ? Stream.empty
    : remote.blobs(
        at,
        listing.paths.map((path, index) => ({ path: prefix + path, oid: listing.oids[index] })),
        { concurrency }
      )

/** The collection's directory at a commit as a listing; empty where there is none. */
export const listAt = (
  remote: GitRemoteService,
  head: Head,
  directory: string,
  layout: Layout
): Effect.Effect<Listing, RemoteFailure> =>
  Effect.map(
    remote.tree(head, directory, { recursive: layout.shardDepth > 0 }),
    Option.match({ onNone: () => emptyListing, onSome: (tree) => listingOf(tree, layout) })
  )
