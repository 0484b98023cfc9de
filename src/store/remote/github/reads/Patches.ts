import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isOid, type Oid } from "../../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import * as GitObject from "../../../../git/GitObject.js"
import { applyPatch, type Hunk, parsePatch, reversed } from "../../../../git/Patch.js"
import type { Head, PathChange } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { withReply } from "../api/Endpoint.js"
import { isApiFailure } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { CommitObjects } from "../heads/CommitObjects.js"
import type { GraphqlPrefetch } from "../heads/GraphqlPrefetch.js"
import type { HeadLookup } from "../heads/HeadLookup.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import type { ObjectCache } from "../objects/ObjectCache.js"

/** The changed files in the description of a commit. Large patches are omitted by the host. */
const Files = Schema.Array(
  Schema.Struct({
    filename: Schema.String,
    previous_filename: Schema.optional(Schema.String),
    status: Schema.optional(Schema.String),
    patch: Schema.optional(Schema.String)
  })
)
/** Hosts describe files differently. Files that cannot be decoded are ignored. */
const getCommit = withReply(
  Api.getCommit,
  Schema.Struct({ ...Api.Commit.fields, files: Schema.optional(Schema.Unknown) })
)

type File = (typeof Files.Type)[number]

/** A description lists 3,000 files at most, on pages of 300. */
const maxPages = 10

/** The number of files of one prefetch query. More files are read in batches. */
const maxPrefetched = 100

/** One version of a file, as a side of a patch. */
interface Version {
  readonly patch: string
  readonly side: "old" | "new"
  readonly other: Oid | undefined
}

const weightOf = (texts: Iterable<string | undefined>) => {
  let sum = 200
  for (const text of texts) sum += 100 + 2 * (text?.length ?? 0)
  return sum
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * The contents of the files that a commit changed, derived from its patches. A patch of a whole file contains both versions.
 * Another patch gives one version if the other one is cached. A content is used only if it matches the blob id.
 */
export interface Patches {
  /** Resolves a commit and reads its patches, if the host returns them. */
  readonly resolve: HeadLookup["resolve"]
  /** Assigns blob ids to the patches of a commit. */
  readonly matchBlobs: (commit: Head | Oid, changes: ReadonlyArray<PathChange>) => void
  /** The content of a blob, if patches give it. */
  readonly blob: (oid: Oid) => Uint8Array | undefined
}

export const makePatches = (parts: {
  readonly client: Client
  readonly objects: ObjectCache
  readonly cachedTrees: CachedTrees
  readonly branchHeads: BranchHeads
  readonly commits: CommitObjects
  readonly graphqlPrefetch: GraphqlPrefetch
  readonly headLookup: HeadLookup
}): Patches => {
  const { commits, branchHeads, graphqlPrefetch, client, headLookup, cachedTrees, objects } = parts
  const maxBytes = client.settings.objectCacheBytes / 4
  const files = new LruCache<ReadonlyArray<File>>(maxBytes, (list) =>
    weightOf(list.map(({ patch }) => patch))
  )
  const versions = new LruCache<Version>(maxBytes, ({ patch }) => weightOf([patch]))

  /** Caches the files of a page. Returns whether there were any. */
  const keep = (commit: Oid, given: unknown): boolean => {
    const found = Option.getOrElse(Schema.decodeUnknownOption(Files)(given), (): ReadonlyArray<File> => [])
    if (found.length > 0) files.set(commit, [...(files.peek(commit) ?? []), ...found])
    return found.length > 0
  }

  const read = (ref: string, page?: number) =>
    client.call(getCommit, { path: { ref }, query: { page } }).pipe(
      Effect.map((reply) =>
        Option.map(reply.value, (found) => {
          commits.put(found)
          return { found, files: found.files, more: /rel="next"/.test(reply.headers["link"] ?? "") }
        })
      )
    )

  /** Prefetches the old versions of the changed files together with the parent. */
  const prefetchParent = (commit: Oid, parent: Oid | undefined): Effect.Effect<void, CallFailure> => {
    const paths = (files.peek(commit) ?? []).flatMap(({ filename, previous_filename: previous, status }) =>
      status === "added" ? [] : [previous ?? filename]
    )
    if (!headLookup.canPrefetch || parent === undefined || paths.length === 0) return Effect.void
    const directories = new Set(paths.map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/")))))
    const request = { files: paths.length > maxPrefetched ? [] : paths, directories: [...directories] }
    return Effect.map(graphqlPrefetch.read({ commit: parent }, request), (head) => {
      if (Option.isSome(head)) cachedTrees.putCommit(head.value)
    })
  }

  const texts = (hunks: ReadonlyArray<Hunk>, { other, side }: Version): ReadonlyArray<string> => {
    const [first] = hunks
    const whole = hunks.length === 1 && first?.before === 0 ? [first[side].join("")] : []
    const base = other === undefined ? undefined : objects.blob(other)
    const applied = base && applyPatch(decoder.decode(base), side === "new" ? hunks : reversed(hunks))
    return applied === undefined ? whole : [...whole, applied]
  }

  const withPatches = (ref: string): ReturnType<HeadLookup["resolve"]> =>
    Effect.gen(function* () {
      const first = yield* read(ref)
      if (Option.isNone(first)) return Option.none()
      const { found } = first.value
      const head: Head = { commit: found.sha, tree: found.commit.tree.sha }
      cachedTrees.putCommit(head)
      if (files.peek(head.commit) === undefined) {
        let { files: listed, more } = first.value
        for (let page = 2; keep(head.commit, listed) && more && page <= maxPages; page++) {
          const next = Option.getOrUndefined(yield* read(head.commit, page))
          listed = next?.files
          more = next?.more === true
        }
      }
      yield* prefetchParent(head.commit, found.parents[0]?.sha)
      return Option.some(head)
    })

  return {
    resolve: (ref) => {
      // Only the lookup of a branch takes the writes of this process into account.
      if (!isOid(ref) && branchHeads.lastOwnCommit(ref) !== undefined) return headLookup.resolve(ref)
      return Effect.flatMap(
        // The usual requests explain a failure better.
        Effect.catchIf(withPatches(ref), isApiFailure, () => Effect.succeedNone),
        (found) => (Option.isSome(found) ? Effect.succeed(found) : headLookup.resolve(ref))
      )
    },
    matchBlobs: (commit, changes) => {
      const list = files.peek(typeof commit === "string" ? commit : commit.commit)
      if (list === undefined) return
      const changed = new Map(changes.map((change) => [change.path, change]))
      for (const { filename, patch, previous_filename: previous } of list) {
        if (patch === undefined) continue
        const before = changed.get(previous ?? filename)?.before ?? Option.none()
        const after = changed.get(filename)?.after ?? Option.none()
        const [from, to] = [Option.getOrUndefined(before), Option.getOrUndefined(after)]
        if (from !== undefined) versions.set(from, { patch, side: "old", other: to })
        if (to !== undefined) versions.set(to, { patch, side: "new", other: from })
      }
    },
    blob: (oid) => {
      const version = versions.get(oid)
      const hunks = version && parsePatch(version.patch)
      if (version === undefined || hunks === undefined) return undefined
      for (const text of texts(hunks, version)) {
        const content = encoder.encode(text)
        if (GitObject.hash("blob", content) !== oid) continue
        objects.putBlob(oid, content)
        return content
      }
      return undefined
    }
  }
}
