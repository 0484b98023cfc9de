import * as Schema from "effect/Schema"
import { Oid } from "../../../../domain/identifiers/Oid.js"
import { get, pages } from "./Endpoint.js"
import { Named, Person } from "./Shapes.js"

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

export const getCommit = get("repos/get-commit", "/repos/{owner}/{repo}/commits/{ref*}", {
  docs: "commits/commits#get-a-commit",
  query: pages,
  reply: Commit
})

export const listCommits = get("repos/list-commits", "/repos/{owner}/{repo}/commits", {
  docs: "commits/commits#list-commits",
  query: ["sha", "path", "author", "since", "until", ...pages],
  reply: Schema.Array(Commit)
})

export const compare = get(
  "repos/compare-commits-with-basehead",
  "/repos/{owner}/{repo}/compare/{basehead*}",
  {
    docs: "commits/commits#compare-two-commits",
    query: pages,
    reply: Schema.Struct({
      status: Schema.Literal("diverged", "ahead", "behind", "identical"),
      merge_base_commit: Schema.optional(Named),
      total_commits: Schema.optional(Schema.Number),
      commits: Schema.Array(Commit)
    })
  }
)
