import * as Schema from "effect/Schema"
import { Oid } from "../../../domain/Oid.js"

export type Method = "GET" | "PUT" | "POST" | "PATCH" | "DELETE"

/** The names between braces of a path template. */
export type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never

/** One operation of GitHub's API: `id` is its name in GitHub's OpenAPI description. */
export interface Endpoint<Path extends string, Body, Reply> {
  readonly id: string
  readonly method: Method
  readonly path: Path
  /** Where GitHub documents it. */
  readonly docs: string
  readonly reply: Schema.Schema<Reply, unknown>
  /** Sending it twice does no more than sending it once. */
  readonly repeatable: boolean
  /** Counts as creating content in the secondary limits. */
  readonly creates: boolean
  /** The quota that pays for it. */
  readonly resource: "core" | "free"
  readonly Body: Body
}

const reference = "https://docs.github.com/rest"

const endpoint =
  <Method_ extends Method>(method: Method_) =>
  <Body = undefined>() =>
  <const Path extends string, Reply, I>(
    id: string,
    path: Path,
    docs: string,
    reply: Schema.Schema<Reply, I>,
    repeatable = method === "GET"
  ): Endpoint<Path, Body, Reply> => ({
    id,
    method,
    path,
    docs: `${reference}/${docs}`,
    reply: reply as Schema.Schema<Reply, unknown>,
    repeatable,
    creates: method !== "GET",
    resource: "core",
    Body: undefined as Body
  })

const get = endpoint("GET")()
const Named = Schema.Struct({ sha: Oid })
const Person = Schema.Struct({ name: Schema.String, email: Schema.String, date: Schema.String })

/** What a commit names as author or committer; the host fills in what is left out. */
export interface PersonInput {
  readonly name: string
  readonly email: string
  readonly date?: string | undefined
}

const GitCommit = Schema.Struct({
  sha: Oid,
  tree: Named,
  parents: Schema.Array(Named),
  message: Schema.String,
  author: Person,
  committer: Person,
  html_url: Schema.optional(Schema.String)
})

export const Commit = Schema.Struct({
  sha: Oid,
  html_url: Schema.optional(Schema.String),
  parents: Schema.Array(Named),
  commit: Schema.Struct({
    message: Schema.String,
    tree: Named,
    author: Schema.NullOr(Schema.partial(Person)),
    committer: Schema.NullOr(Schema.partial(Person))
  })
})
export type Commit = typeof Commit.Type

const GitRef = Schema.Struct({
  ref: Schema.String,
  object: Schema.Struct({ type: Schema.String, sha: Oid })
})

const TreeEntry = Schema.Struct({
  path: Schema.String,
  mode: Schema.Literal("100644", "100755", "040000", "160000", "120000"),
  type: Schema.Literal("blob", "tree", "commit"),
  sha: Oid,
  size: Schema.optional(Schema.Number)
})

const ContentFile = Schema.Struct({
  type: Schema.String,
  sha: Oid,
  size: Schema.Number,
  encoding: Schema.optional(Schema.String),
  content: Schema.optional(Schema.String)
})

const ContentEntry = Schema.Struct({
  type: Schema.String,
  name: Schema.String,
  path: Schema.String,
  sha: Oid,
  size: Schema.Number
})

const FileCommit = Schema.Struct({
  content: Schema.NullOr(Named),
  commit: Schema.Struct({
    sha: Oid,
    tree: Schema.optional(Named),
    parents: Schema.optional(Schema.Array(Named))
  })
})

const RateLimit = Schema.Struct({
  limit: Schema.Number,
  remaining: Schema.Number,
  used: Schema.optional(Schema.Number),
  reset: Schema.Number
})

/** One entry of a tree to be made: by id, by text, or gone (`sha: null`). */
export type TreeInput =
  | { readonly path: string; readonly mode: "100644"; readonly type: "blob"; readonly content: string }
  | { readonly path: string; readonly mode: "100644"; readonly type: "blob"; readonly sha: Oid | null }

interface FileBody {
  readonly message: string
  readonly branch: string
  readonly sha?: Oid | undefined
  readonly committer?: PersonInput | undefined
  readonly author?: PersonInput | undefined
}

export const getRepository = get(
  "repos/get",
  "/repos/{owner}/{repo}",
  "repos/repos#get-a-repository",
  Schema.Struct({
    full_name: Schema.String,
    default_branch: Schema.optional(Schema.NullOr(Schema.String)),
    permissions: Schema.optional(Schema.Struct({ push: Schema.optional(Schema.Boolean) }))
  })
)

/** Some hosts describe the commit by its id alone, or in words of their own. */
export const getBranch = get(
  "repos/get-branch",
  "/repos/{owner}/{repo}/branches/{branch}",
  "branches/branches#get-a-branch",
  Schema.Struct({ name: Schema.String, commit: Schema.optional(Schema.Unknown) })
)

/** The path may be a file, a symbolic link, a submodule or (as an array of at most 1,000 entries) a directory. */
export const getContent = get(
  "repos/get-content",
  "/repos/{owner}/{repo}/contents/{path}",
  "repos/contents#get-repository-content",
  Schema.Union(Schema.Array(ContentEntry), ContentFile)
)

/** The same of a directory, with the media type that tells the directory's own id; older servers know none and send an array. */
export const getDirectory = get(
  "repos/get-content",
  "/repos/{owner}/{repo}/contents/{path}",
  "repos/contents#get-repository-content",
  Schema.Union(
    Schema.Array(ContentEntry),
    Schema.Struct({ type: Schema.Literal("dir"), sha: Oid, entries: Schema.Array(ContentEntry) }),
    ContentFile
  )
)

export const putContent = endpoint("PUT")<FileBody & { readonly content: string }>()(
  "repos/create-or-update-file-contents",
  "/repos/{owner}/{repo}/contents/{path}",
  "repos/contents#create-or-update-file-contents",
  FileCommit
)

export const deleteContent = endpoint("DELETE")<FileBody & { readonly sha: Oid }>()(
  "repos/delete-file",
  "/repos/{owner}/{repo}/contents/{path}",
  "repos/contents#delete-a-file",
  FileCommit
)

export const getCommit = get(
  "repos/get-commit",
  "/repos/{owner}/{repo}/commits/{ref}",
  "commits/commits#get-a-commit",
  Commit
)

export const listCommits = get(
  "repos/list-commits",
  "/repos/{owner}/{repo}/commits",
  "commits/commits#list-commits",
  Schema.Array(Commit)
)

export const compare = get(
  "repos/compare-commits-with-basehead",
  "/repos/{owner}/{repo}/compare/{basehead}",
  "commits/commits#compare-two-commits",
  Schema.Struct({
    status: Schema.Literal("diverged", "ahead", "behind", "identical"),
    merge_base_commit: Schema.optional(Named),
    total_commits: Schema.optional(Schema.Number),
    commits: Schema.Array(Commit)
  })
)

/** The bytes, always asked for as such. */
export const getBlob = get(
  "git/get-blob",
  "/repos/{owner}/{repo}/git/blobs/{file_sha}",
  "git/blobs#get-a-blob",
  Schema.Uint8ArrayFromSelf
)

export const createBlob = endpoint("POST")<{ readonly content: string; readonly encoding: "base64" }>()(
  "git/create-blob",
  "/repos/{owner}/{repo}/git/blobs",
  "git/blobs#create-a-blob",
  Named,
  true
)

export const getTree = get(
  "git/get-tree",
  "/repos/{owner}/{repo}/git/trees/{tree_sha}",
  "git/trees#get-a-tree",
  Schema.Struct({ sha: Oid, truncated: Schema.optional(Schema.Boolean), tree: Schema.Array(TreeEntry) })
)

export const createTree = endpoint("POST")<{
  readonly base_tree?: Oid | undefined
  readonly tree: ReadonlyArray<TreeInput>
}>()("git/create-tree", "/repos/{owner}/{repo}/git/trees", "git/trees#create-a-tree", Named, true)

export const getGitCommit = get(
  "git/get-commit",
  "/repos/{owner}/{repo}/git/commits/{commit_sha}",
  "git/commits#get-a-commit-object",
  GitCommit
)

export const createCommit = endpoint("POST")<{
  readonly message: string
  readonly tree: Oid
  readonly parents: ReadonlyArray<Oid>
  readonly author?: PersonInput | undefined
  readonly committer?: PersonInput | undefined
}>()(
  "git/create-commit",
  "/repos/{owner}/{repo}/git/commits",
  "git/commits#create-a-commit",
  Schema.Struct({ sha: Oid, tree: Named }),
  true
)

export const getRef = get(
  "git/get-ref",
  "/repos/{owner}/{repo}/git/ref/{ref}",
  "git/refs#get-a-reference",
  GitRef
)

export const listMatchingRefs = get(
  "git/list-matching-refs",
  "/repos/{owner}/{repo}/git/matching-refs/{ref}",
  "git/refs#list-matching-references",
  Schema.Array(GitRef)
)

export const createRef = endpoint("POST")<{ readonly ref: string; readonly sha: Oid }>()(
  "git/create-ref",
  "/repos/{owner}/{repo}/git/refs",
  "git/refs#create-a-reference",
  GitRef
)

export const updateRef = endpoint("PATCH")<{ readonly sha: Oid; readonly force: false }>()(
  "git/update-ref",
  "/repos/{owner}/{repo}/git/refs/{ref}",
  "git/refs#update-a-reference",
  GitRef
)

export const deleteRef = endpoint("DELETE")()(
  "git/delete-ref",
  "/repos/{owner}/{repo}/git/refs/{ref}",
  "git/refs#delete-a-reference",
  Schema.Unknown
)

/** Costs nothing of the primary limit. */
export const getRateLimit = {
  ...get(
    "rate-limit/get",
    "/rate_limit",
    "rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user",
    Schema.Struct({
      resources: Schema.Struct({
        core: Schema.optional(RateLimit),
        graphql: Schema.optional(RateLimit)
      })
    })
  ),
  resource: "free"
} as const
