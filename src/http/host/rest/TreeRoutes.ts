import { Effect, Option } from "effect"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository, TreeChange } from "../../../git/disk/port/GitRepository.js"
import type { TreeEntry } from "../../../git/Tree.js"
import * as Api from "../../../store/remote/github/api/Objects.js"
import { emptyRepository, type HostError, notFound, unprocessable } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import * as BlobSizes from "../repository/BlobSizes.js"
import { isPath } from "../repository/HostNames.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import * as FileContent from "../request/FileContent.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonBody from "../request/JsonBody.js"
import * as JsonFields from "../request/JsonFields.js"
import * as Route from "../request/Route.js"

/** The limits at which a recursive listing is truncated. */
const maxEntries = 100_000
const maxBytes = 7 * 1024 * 1024

const view = (call: HostCall, fullName: string, entry: TreeEntry, size: number | undefined) => ({
  path: entry.path,
  mode: entry.mode,
  type: entry.kind,
  sha: entry.oid,
  ...(size === undefined ? {} : { size }),
  ...(entry.kind === "commit"
    ? {}
    : { url: Links.git(call.links, fullName, entry.kind === "tree" ? "trees" : "blobs", entry.oid) })
})

const listing = (call: HostCall, fullName: string, git: GitRepository, oid: Oid, recursive: boolean) =>
  Effect.gen(function* () {
    const found = yield* git.tree(oid, "", { recursive, trees: recursive })
    const entries = Option.match(found, { onNone: () => [], onSome: (tree) => tree.entries })
    const tree: Array<object> = []
    let bytes = 0
    let truncated = entries.length > maxEntries
    const slice = TimeSlice.make()
    for (const entry of truncated ? entries.slice(0, maxEntries) : entries) {
      if (slice.isSpent()) yield* slice.pause
      const shown = view(
        call,
        fullName,
        entry,
        entry.kind === "blob" ? (BlobSizes.known(entry) ?? (yield* BlobSizes.of(git, entry))) : undefined
      )
      // An estimate of the entry's size in the reply.
      bytes += 230 + 2 * entry.path.length
      if (bytes > maxBytes && recursive) {
        truncated = true
        break
      }
      tree.push(shown)
    }
    return { sha: oid, url: Links.git(call.links, fullName, "trees", oid), tree, truncated }
  })

const modes: ReadonlyArray<TreeEntry["mode"]> = ["100644", "100755", "040000", "160000", "120000"]

const kindOf = (mode: TreeEntry["mode"]) =>
  mode === "040000" ? "tree" : mode === "160000" ? "commit" : "blob"

/** Decodes one entry of `tree` in POST and checks that its object exists. */
const change = (git: GitRepository, entry: unknown): Effect.Effect<TreeChange, HostError | RemoteError> =>
  Effect.gen(function* () {
    if (!JsonFields.isObject(entry)) return yield* unprocessable("Invalid tree info")
    const path = yield* JsonFields.string(entry, "path", "properties/tree/items/properties/path")
    if (path === undefined) return yield* unprocessable("tree.path is missing")
    if (!isPath(path)) return yield* unprocessable("tree.path contains a malformed path component")
    const given = yield* JsonFields.string(entry, "mode", "properties/tree/items/properties/mode")
    const mode = modes.find((known) => known === (given ?? "100644"))
    if (mode === undefined) {
      return yield* unprocessable("Must supply a valid tree.mode: 100644, 100755, 040000, 160000 or 120000.")
    }
    const sha = entry["sha"]
    if (sha === null) return { path, mode, oid: Option.none() }
    const content = yield* JsonFields.content(entry, "content", "properties/tree/items/properties/content")
    if (content !== undefined && sha !== undefined) {
      return yield* unprocessable("Must supply either tree.sha or tree.content. Both is ambiguous.")
    }
    if (content !== undefined) {
      return { path, mode, oid: Option.some(yield* FileContent.store(git, FileContent.fromUtf8(content))) }
    }
    if (sha === undefined) {
      return yield* unprocessable(
        "Must supply either tree.sha or tree.content. If neither is given, nothing is written."
      )
    }
    const oid = RevisionLookup.oidFrom(sha)
    const kind = kindOf(mode)
    if (oid === undefined)
      return yield* unprocessable(
        "The tree.sha parameter must be exactly 40 characters and contain only [0-9a-f]."
      )
    if (kind !== "commit") {
      const info = yield* git.objectInfo(oid)
      if (Option.isNone(info) || info.value.type !== kind) {
        return yield* unprocessable(`tree.sha ${oid} is not a valid ${kind}`)
      }
    }
    return { path, mode, oid: Option.some(oid) }
  })

/** GitHub's error if a path to delete does not exist or has another type. */
const badState = unprocessable("GitRPC::BadObjectState")

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.getTree, function* (call, { fullName, git }) {
    const found = yield* RevisionLookup.treeOf(git, call.parameters["tree_sha"] ?? "")
    if (Option.isNone(found)) return yield* (yield* RevisionLookup.isEmpty(git)) ? emptyRepository : notFound
    const recursive = call.query.has("recursive")
    return yield* ConditionalReply.cached(
      call,
      `tree ${found.value} ${recursive}`,
      Effect.map(listing(call, fullName, git, found.value, recursive), (tree) => Reply.okJson(tree))
    )
  }),
  Route.write(Api.createTree, function* (call, { fullName, git }) {
    const body = yield* JsonBody.readDeclared(call, Api.createTree, "content")
    const { base_tree: base, tree: entries } = yield* body.get("tree", "base_tree")
    if (yield* RevisionLookup.isEmpty(git)) return yield* emptyRepository
    if (entries.length === 0) return yield* unprocessable("Invalid tree info")
    const root = base === undefined ? Option.none<Oid>() : yield* RevisionLookup.treeOf(git, base)
    if (base !== undefined && Option.isNone(root)) {
      return yield* unprocessable("base_tree is not a valid tree oid")
    }
    const changes = yield* TimeSlice.forEach(entries, (entry) => change(git, entry))
    if (new Set(changes.map(({ path }) => path)).size < changes.length) {
      return yield* unprocessable("tree contains duplicate file entries")
    }
    if (Option.isSome(root)) {
      const removals = changes.filter(({ oid }) => Option.isNone(oid))
      yield* TimeSlice.forEach(removals, ({ mode, path }) =>
        Effect.filterOrFail(
          git.lookup(root.value, path),
          (existing) => Option.isNone(existing) || existing.value.kind === kindOf(mode),
          () => badState
        )
      )
    }
    const oid = yield* git
      .writeTree(root, changes)
      .pipe(Effect.mapError((error) => (error instanceof ValidationError ? badState : error)))
    const tree = yield* listing(call, fullName, git, oid, false)
    return Reply.json(201, tree, { location: tree.url })
  })
]
