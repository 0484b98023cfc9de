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
import type { Tip } from "./BranchHeads.js"

/** A commit by its id, or the one that a branch is at. */
export type CommitSelector = { readonly commit: Oid } | { readonly branch: string }

/** Finds a commit together with what will be read at it, by one query. */
export interface GraphqlPrefetch {
  /** None when there is no such commit as far as the answer tells, which other ways may know better. */
  readonly read: (
    place: CommitSelector,
    wants: PrefetchRequest
  ) => Effect.Effect<Option.Option<Tip>, CallFailure>
  /** What of it is not known yet. */
  readonly missing: (head: Head, wants: PrefetchRequest) => PrefetchRequest
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

/** One query for a commit, its root and some of its paths: everything hangs under one commit, so nothing can disagree. */
export const prefetchDocument = (place: CommitSelector, count: number) => {
  const each = Array.from({ length: count }, (_, index) => index)
  const variables = each.map((index) => `, $p${index}: String!`).join("")
  const fields = each.map((index) => `  p${index}: file(path: $p${index}) { ...Found }`).join("\n")
  const found =
    "commit" in place ? "object(oid: $at) { ...At }" : "ref(qualifiedName: $at) { target { ...At } }"
  return `query Bring($owner: String!, $name: String!, $at: ${"commit" in place ? "GitObjectID" : "String"}!${variables}) {
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

/** Directories with those above them, by which a commit's tree is worked out. */
const withParents = (trees: ReadonlyArray<string>) => {
  const all = new Set<string>()
  for (const path of trees) {
    const names = path.split("/")
    for (let length = 1; length <= names.length; length++) all.add(names.slice(0, length).join("/"))
  }
  all.delete("")
  return [...all]
}

/** Directories of more entries are left to the REST API, which is faster at them. */
const largest = 5_000

const encoder = new TextEncoder()

export const makeGraphqlPrefetch = (
  client: Client,
  cache: ObjectCache,
  known: Pick<CachedTrees, "directoryAt" | "entryAt">,
  repositoryId: RepositoryId
): GraphqlPrefetch => {
  const { owner, repo } = client.settings.address
  const large = new Set<string>()

  /** Keeps a directory that proves itself by its id. */
  const keepTree = (oid: Oid, path: string, list: typeof entries.Type | undefined) => {
    if (list === undefined || list === null) return
    if (list.length > largest) large.add(path)
    const found: Array<TreeEntry> = []
    for (const { mode, name, oid: id, type } of list) {
      const known = modes.get(mode)
      if (known === undefined) return
      found.push({ path: name, mode: known, kind: type, oid: id })
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
    cache.putFile(root, path, found?.type === "blob" ? found.oid : null)
    const text = found?.object?.text
    if (found === null || typeof text !== "string") return
    const content = encoder.encode(text)
    if (GitObject.hash("blob", content) === found.oid) cache.putBlob(found.oid, content)
  }

  const at: GraphqlPrefetch["read"] = (place, wants) =>
    Effect.suspend(() => {
      const paths = [...wants.files, ...withParents(wants.directories).filter((path) => !large.has(path))]
      return client
        .graphql(
          prefetchDocument(place, paths.length),
          {
            owner,
            name: repo,
            at: "commit" in place ? place.commit : `refs/heads/${place.branch}`,
            ...Object.fromEntries(paths.map((path, index) => [`p${index}`, path]))
          },
          Answer
        )
        .pipe(
          Effect.map(({ data }) => {
            repositoryId.learn(data.repository?.id)
            const target = data.repository?.object ?? data.repository?.ref?.target
            const tip = Schema.decodeUnknownOption(Commit)(target)
            if (Option.isNone(tip)) return Option.none()
            const { oid: commit, parents, tree } = tip.value
            keepTree(tree.oid, "", tree.entries)
            for (const [index, path] of paths.entries()) keep(tree.oid, path, target?.[`p${index}`])
            return Option.some({ commit, tree: tree.oid, parents: parents.nodes.map(({ oid }) => oid) })
          })
        )
    })

  return {
    read: at,
    missing: (head, wants) => ({
      directories: withParents(wants.directories).filter((path) => {
        const oid = known.directoryAt(head.tree, path)
        return !large.has(path) && oid !== null && (oid === undefined || cache.tree(oid) === undefined)
      }),
      files: wants.files.filter((path) => {
        const entry = known.entryAt(head, path)
        return (
          entry === undefined ||
          (Option.isSome(entry) && entry.value.kind === "blob" && cache.blob(entry.value.oid) === undefined)
        )
      })
    })
  }
}
