import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Layout, Settings } from "../../../domain/settings/Settings.js"
import { idAt, placeOf } from "../../DocumentPath.js"
import {
  type Blob,
  type GitRemoteService,
  type Head,
  type RemoteFailure,
  type Tree,
  takesRequests
} from "../../remote/GitRemote.js"

const suffix = ".json"
const hexDigits = new TextEncoder().encode("0123456789abcdef")
const ascii = new TextDecoder()

const isStep = (at: number) => at % Steps.stepSize === Steps.stepSize - 1

const digitOf = (code: number) => (code < 58 ? code - 48 : code - 87)
const textOf = (codes: Uint8Array) => String.fromCharCode.apply(null, codes as unknown as Array<number>)

/**
 * The documents of a collection at one commit, in order of id. Listings are cached, so they are packed: each document
 * takes 28 bytes plus the length of its id.
 */
export class Listing {
  private constructor(
    readonly tree: Oid | undefined,
    private readonly packed: Packed,
    private readonly from: number,
    private readonly to: number
  ) {}

  static *of(tree: Oid | undefined, found: ReadonlyArray<ListedDocument>): Steps.Steps<Listing> {
    return new Listing(tree, yield* pack(found), 0, found.length)
  }

  get length(): number {
    return this.to - this.from
  }

  id(index: number): string {
    const { ids, starts } = this.packed
    const at = this.from + index
    return textOf(ids.subarray(starts[at], starts[at + 1]))
  }

  ids(): Array<string> {
    const { ids, starts } = this.packed
    const first = starts[this.from]!
    const text = ascii.decode(ids.subarray(first, starts[this.to]))
    const found: Array<string> = []
    for (let at = this.from; at < this.to; at++) {
      found.push(text.slice(starts[at]! - first, starts[at + 1]! - first))
    }
    return found
  }

  /** The path relative to the collection's directory. */
  path(index: number): string {
    const { directories, directory } = this.packed
    return directories[directory[this.from + index]!]! + this.id(index) + suffix
  }

  /** The number of ids that are not greater than this one. */
  upTo(id: string): number {
    let [low, high] = [0, this.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.id(middle) <= id) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The blob at a path relative to the collection's directory. */
  find(path: string): Oid | undefined {
    const at = this.upTo(path.slice(path.lastIndexOf("/") + 1, -suffix.length)) - 1
    return at >= 0 && this.path(at) === path ? this.oid(at) : undefined
  }

  oid(index: number): Oid {
    const { oids } = this.packed
    const digits = new Uint8Array(40)
    const start = (this.from + index) * 20
    for (let at = 0; at < 20; at++) {
      const byte = oids[start + at]!
      digits[at * 2] = hexDigits[byte >> 4]!
      digits[at * 2 + 1] = hexDigits[byte & 15]!
    }
    return textOf(digits) as Oid
  }

  /** The documents from one position up to, but not including, another one. */
  range(from: number, to: number): Listing {
    return from === 0 && to === this.length
      ? this
      : new Listing(this.tree, this.packed, this.from + from, this.from + to)
  }

  /** Ids, blob ids and paths of all documents: only for a bounded part of a listing. */
  entries(): ReadonlyArray<ListedDocument> {
    return this.ids().map((id, index) => ({ id, oid: this.oid(index), path: this.path(index) }))
  }
}

interface Packed {
  readonly ids: Uint8Array
  /** Where each id starts in `ids`, and after them the total length. */
  readonly starts: Uint32Array
  readonly oids: Uint8Array
  readonly directories: ReadonlyArray<string>
  /** The index of each document's directory in `directories`. */
  readonly directory: Uint32Array
}

function* pack(found: ReadonlyArray<ListedDocument>): Steps.Steps<Packed> {
  const starts = new Uint32Array(found.length + 1)
  for (const [at, { id }] of found.entries()) {
    if (isStep(at)) yield
    starts[at + 1] = starts[at]! + id.length
  }
  const ids = new Uint8Array(starts[found.length]!)
  const oids = new Uint8Array(found.length * 20)
  const directory = new Uint32Array(found.length)
  const directories = new Map<string, number>()
  for (const [at, { id, oid, path }] of found.entries()) {
    if (isStep(at)) yield
    for (let unit = 0; unit < id.length; unit++) ids[starts[at]! + unit] = id.charCodeAt(unit)
    for (let byte = 0; byte < 20; byte++) {
      oids[at * 20 + byte] = (digitOf(oid.charCodeAt(byte * 2)) << 4) | digitOf(oid.charCodeAt(byte * 2 + 1))
    }
    const name = path.slice(0, path.length - id.length - suffix.length)
    const index = directories.get(name) ?? directories.size
    if (index === directories.size) directories.set(name, index)
    directory[at] = index
  }
  return { ids, starts, oids, directories: [...directories.keys()], directory }
}

/** A listing with the place where its files are read: `prefix` is the path of the collection's directory in `at`. */
export interface LocatedListing {
  readonly settings: Settings
  readonly listing: Listing
  readonly at: Head | Oid
  readonly prefix: string
}

/** A document of a listing; `path` is relative to the collection's directory. */
export interface ListedDocument {
  readonly id: string
  readonly oid: Oid
  readonly path: string
}

export const emptyListing: Listing = Steps.runSync(Listing.of(undefined, []))

/** If other directories contain copies of a document, keeps the one whose path the layout prescribes. */
function* withoutCopies(
  sorted: ReadonlyArray<ListedDocument>,
  layout: Layout
): Steps.Steps<ReadonlyArray<ListedDocument>> {
  if (!sorted.some(({ id }, at) => sorted[at + 1]?.id === id)) return sorted
  const kept: Array<ListedDocument> = []
  for (const [at, found] of sorted.entries()) {
    if (isStep(at)) yield
    const before = kept.at(-1)
    if (before?.id !== found.id) kept.push(found)
    else if (placeOf(layout, found.id) === found.path) kept[kept.length - 1] = found
  }
  return kept
}

const byId = (a: ListedDocument, b: ListedDocument): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

function* listed(tree: Tree, layout: Layout): Steps.Steps<Listing> {
  const files: Array<ListedDocument> = []
  for (const [at, { kind, oid, path }] of tree.entries.entries()) {
    if (isStep(at)) yield
    if (kind !== "blob") continue
    const id = idAt(layout, path)
    if (id !== undefined) files.push({ id, oid, path })
  }
  const sorted = yield* Steps.sorted(files, byId)
  const found = layout.shardDepth === 0 ? sorted : yield* withoutCopies(sorted, layout)
  return yield* Listing.of(tree.oid, found)
}

/**
 * The documents among the entries of a collection's directory. Ids are ASCII, so UTF-16 order equals code point order.
 */
export const listingOf = (tree: Tree, layout: Layout): Effect.Effect<Listing> =>
  Steps.run(() => listed(tree, layout))

/** The part of a listing that `limit` and `after` select. */
export const slice = (
  listing: Listing,
  limit: number | undefined,
  after: string | null | undefined
): Listing => {
  const from = after === undefined || after === null ? 0 : listing.upTo(after)
  return listing.range(from, limit === undefined ? listing.length : Math.min(listing.length, from + limit))
}

/** Splits a listing into parts of at most `size` documents. */
export const inChunks = (listing: Listing, size: number): Stream.Stream<Listing> =>
  Stream.unfold(0, (from) =>
    from >= listing.length
      ? Option.none()
      : Option.some([listing.range(from, Math.min(listing.length, from + size)), from + size] as const)
  )

/** The number of files in one read if reads cost no requests. It bounds the number of unpacked entries. */
const filesPerRead = 512

/** Reads the files of a listing in bulk and in order; `prefix` is the path of the collection's directory in `at`. */
export const readListing = (
  remote: GitRemoteService,
  at: Head | Oid,
  prefix: string,
  listing: Listing,
  concurrency: number
): Stream.Stream<Blob, RemoteFailure> => {
  const read = (part: Listing) =>
    remote.blobs(
      at,
      part.entries().map(({ oid, path }) => ({ path: prefix + path, oid })),
      { concurrency }
    )
  if (listing.length === 0) return Stream.empty
  return takesRequests(remote) || listing.length <= filesPerRead
    ? read(listing)
    : Stream.flatMap(inChunks(listing, filesPerRead), read)
}

/** Lists the collection's directory at a commit; empty if there is none. */
export const listAt = (
  remote: GitRemoteService,
  head: Head,
  directory: string,
  layout: Layout
): Effect.Effect<Listing, RemoteFailure> =>
  Effect.flatMap(
    remote.tree(head, directory, { recursive: layout.shardDepth > 0 }),
    Option.match({
      onNone: () => Effect.succeed(emptyListing),
      onSome: (tree) => listingOf(tree, layout)
    })
  )
