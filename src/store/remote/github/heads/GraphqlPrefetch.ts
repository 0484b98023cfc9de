import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Oid } from "../../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../../git/GitObject.js"
import type { Head, PrefetchRequest, TreeEntry } from "../../GitRemote.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { RepositoryId } from "../client/RepositoryId.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import { inOrder, oidOf } from "../objects/Listing.js"
import type { ObjectCache } from "../objects/ObjectCache.js"
import type { HeadWithParents } from "./HeadRequests.js"

/** A commit by its id, or the head of a branch. */
export type CommitSelector = { readonly commit: Oid } | { readonly branch: string }

/** Reads a commit, and files and directories of it, in one GraphQL query. */
export interface GraphqlPrefetch {
  /** None if the reply does not contain the commit; another request may still find it. */
  readonly read: (
    commit: CommitSelector,
    prefetch: PrefetchRequest
  ) => Effect.Effect<Option.Option<HeadWithParents>, CallFailure>
  /** The part of a request that is not cached yet. */
  readonly missing: (head: Head, prefetch: PrefetchRequest) => PrefetchRequest
}

const entries = Schema.NullOr(
  Schema.Array(
    Schema.Struct({
      name: Schema.String,
      mode: Schema.Number,
      type: Schema.Literal("blob", "tree", "commit"),
      oid: Oid
    })
  )
)

const Found = Schema.NullOr(
  Schema.Struct({
    type: Schema.String,
    oid: Oid,
    object: Schema.NullOr(
      Schema.Struct({
        entries: Schema.optional(entries),
        text: Schema.optional(Schema.NullOr(Schema.String))
      })
    )
  })
)

const Commit = Schema.Struct({
  oid: Oid,
  parents: Schema.Struct({ nodes: Schema.Array(Schema.Struct({ oid: Oid })) }),
  tree: Schema.Struct({ oid: Oid, entries })
})
const Target = Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

const Answer = Schema.Struct({
  repository: Schema.NullOr(
    Schema.Struct({
      id: Schema.optional(Schema.String),
      object: Schema.optional(Target),
      ref: Schema.optional(Schema.NullOr(Schema.Struct({ target: Target })))
    })
  )
})

/** One query for a commit, its root directory and some of its paths. All fields are below one commit, so they are consistent. */
export const prefetchDocument = (commit: CommitSelector, count: number) => {
  const each = Array.from({ length: count }, (_, index) => index)
  const variables = each.map((index) => `, $p${index}: String!`).join("")
  const fields = each.map((index) => `  p${index}: file(path: $p${index}) { ...Found }`).join("\n")
  const found =
    "commit" in commit ? "object(oid: $at) { ...At }" : "ref(qualifiedName: $at) { target { ...At } }"
  return `query Prefetch($owner: String!, $name: String!, $at: ${"commit" in commit ? "GitObjectID" : "String"}!${variables}) {
  repository(owner: $owner, name: $name) {
    id
    ${found}
  }
}
fragment At on Commit {
  oid
  parents(first: 2) { nodes { oid } }
  tree { oid entries { ...Entry } }
${fields}
}
${count === 0 ? "" : "fragment Found on TreeEntry { type oid object { ... on Blob { text } ... on Tree { entries { ...Entry } } } }\n"}fragment Entry on TreeEntry { name mode type oid }`
}

const modes = new Map<number, TreeEntry["mode"]>([
  [0o100644, "100644"],
  [0o100755, "100755"],
  [0o120000, "120000"],
  [0o040000, "040000"],
  [0o160000, "160000"]
])

/** Directories with their parents, which are needed to compute the tree of a commit. */
const withParents = (trees: ReadonlyArray<string>) => {
  const all = new Set<string>()
  for (const path of trees) {
    const names = path.split("/")
    for (let length = 1; length <= names.length; length++) all.add(names.slice(0, length).join("/"))
  }
  all.delete("")
  return [...all]
}

/** Larger directories are read by the REST API, which is faster for them. */
const maxEntries = 5_000

const encoder = new TextEncoder()

export const makeGraphqlPrefetch = (
  client: Client,
  cache: ObjectCache,
  cachedTrees: Pick<CachedTrees, "directoryAt" | "entryAt" | "noteNotAFile">,
  repositoryId: RepositoryId
): GraphqlPrefetch => {
  const { owner, repo } = client.settings.address
  const large = new Set<string>()

  /** Caches a directory whose entries match its id. */
  const keepTree = (oid: Oid, path: string, list: typeof entries.Type | undefined) => {
    if (list === undefined || list === null) return
    if (list.length > maxEntries) large.add(path)
    const found: Array<TreeEntry> = []
    for (const { mode, name, oid: id, type } of list) {
      const gitMode = modes.get(mode)
      if (gitMode === undefined) return
      found.push({ path: name, mode: gitMode, kind: type, oid: id })
    }
    const ordered = inOrder(found)
    if (oidOf(ordered) === oid) cache.putTree(oid, ordered)
  }

  const keep = (root: Oid, path: string, answer: unknown) => {
    const decoded = Schema.decodeUnknownOption(Found)(answer)
    if (Option.isNone(decoded)) return
    const found = decoded.value
    if (found?.type === "tree") {
      cache.putDirectories(root, new Map([[path, found.oid]]))
      keepTree(found.oid, path, found.object?.entries)
      return
    }
    cache.putDirectories(root, new Map([[path, null]]))
    // Read as a file, it is absent. A write must not replace it.
    if (found?.type === "commit") cachedTrees.noteNotAFile(root, path, "commit")
    cache.putFile(root, path, found?.type === "blob" ? found.oid : null)
    const text = found?.object?.text
    if (found === null || typeof text !== "string") return
    const content = encoder.encode(text)
    if (GitObject.hash("blob", content) === found.oid) cache.putBlob(found.oid, content)
  }

  const read: GraphqlPrefetch["read"] = (commit, prefetch) =>
    Effect.suspend(() => {
      const paths = [
        ...prefetch.files,
        ...withParents(prefetch.directories).filter((path) => !large.has(path))
      ]
      return client
        .graphql(
          prefetchDocument(commit, paths.length),
          {
            owner,
            name: repo,
            at: "commit" in commit ? commit.commit : `refs/heads/${commit.branch}`,
            ...Object.fromEntries(paths.map((path, index) => [`p${index}`, path]))
          },
          Answer
        )
        .pipe(
          Effect.map(({ data }) => {
            repositoryId.learn(data.repository?.id)
            const target = data.repository?.object ?? data.repository?.ref?.target
            const found = Schema.decodeUnknownOption(Commit)(target)
            if (Option.isNone(found)) return Option.none()
            const { oid: commit, parents, tree } = found.value
            keepTree(tree.oid, "", tree.entries)
            for (const [index, path] of paths.entries()) keep(tree.oid, path, target?.[`p${index}`])
            return Option.some({ commit, tree: tree.oid, parents: parents.nodes.map(({ oid }) => oid) })
          })
        )
    })

  return {
    read,
    missing: (head, prefetch) => ({
      directories: withParents(prefetch.directories).filter((path) => {
        const oid = cachedTrees.directoryAt(head.tree, path)
        return !large.has(path) && oid !== null && (oid === undefined || cache.tree(oid) === undefined)
      }),
      files: prefetch.files.filter((path) => {
        const entry = cachedTrees.entryAt(head, path)
        return (
          entry === undefined ||
          (Option.isSome(entry) && entry.value.kind === "blob" && cache.blob(entry.value.oid) === undefined)
        )
      })
    })
  }
}
