import * as Schema from "effect/Schema"
import { Oid } from "../../../../domain/identifiers/Oid.js"
import { get, post } from "./Endpoint.js"
import { Named, Person, PersonInput } from "./Shapes.js"

const mode = Schema.Literal("100644", "100755", "040000", "160000", "120000")
const type = Schema.Literal("blob", "tree", "commit")

/** Always requested with the raw media type. */
export const getBlob = get("git/get-blob", "/repos/{owner}/{repo}/git/blobs/{file_sha}", {
  docs: "git/blobs#get-a-blob",
  reply: Schema.Uint8ArrayFromSelf
})

export const createBlob = post("git/create-blob", "/repos/{owner}/{repo}/git/blobs", {
  docs: "git/blobs#create-a-blob",
  body: Schema.Struct({ content: Schema.String, encoding: Schema.optional(Schema.String) }),
  reply: Named,
  repeatable: true
})

export const getTree = get("git/get-tree", "/repos/{owner}/{repo}/git/trees/{tree_sha*}", {
  docs: "git/trees#get-a-tree",
  query: ["recursive"],
  reply: Schema.Struct({
    sha: Oid,
    truncated: Schema.optional(Schema.Boolean),
    tree: Schema.Array(
      Schema.Struct({ path: Schema.String, mode, type, sha: Oid, size: Schema.optional(Schema.Number) })
    )
  })
})

/** An entry of a new tree: by id, by text, or removed (`sha: null`). */
export const TreeInput = Schema.Struct({
  path: Schema.String,
  mode,
  type,
  content: Schema.optional(Schema.String),
  sha: Schema.optional(Schema.NullOr(Schema.String))
})
export type TreeInput = typeof TreeInput.Type

export const createTree = post("git/create-tree", "/repos/{owner}/{repo}/git/trees", {
  docs: "git/trees#create-a-tree",
  body: Schema.Struct({ tree: Schema.Array(TreeInput), base_tree: Schema.optional(Schema.String) }),
  reply: Named,
  repeatable: true
})

export const getGitCommit = get("git/get-commit", "/repos/{owner}/{repo}/git/commits/{commit_sha}", {
  docs: "git/commits#get-a-commit-object",
  reply: Schema.Struct({
    sha: Oid,
    tree: Named,
    parents: Schema.Array(Named),
    message: Schema.String,
    author: Person,
    committer: Person,
    html_url: Schema.optional(Schema.String)
  })
})

export const createCommit = post("git/create-commit", "/repos/{owner}/{repo}/git/commits", {
  docs: "git/commits#create-a-commit",
  body: Schema.Struct({
    message: Schema.String,
    tree: Schema.String,
    parents: Schema.optional(Schema.Array(Schema.String)),
    author: Schema.optional(PersonInput),
    committer: Schema.optional(PersonInput)
  }),
  reply: Schema.Struct({ sha: Oid, tree: Named }),
  repeatable: true
})
