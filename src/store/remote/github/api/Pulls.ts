import * as Schema from "effect/Schema"
import { Oid } from "../../../../domain/identifiers/Oid.js"
import { get, pages, patch, post, put } from "./Endpoint.js"

const Account = Schema.NullOr(Schema.Struct({ login: Schema.String }))

const Side = Schema.Struct({
  ref: Schema.String,
  sha: Oid,
  /** Null if the fork was deleted. */
  repo: Schema.NullOr(Schema.Struct({ full_name: Schema.String }))
})

export const Pull = Schema.Struct({
  number: Schema.Number,
  state: Schema.String,
  title: Schema.String,
  body: Schema.NullOr(Schema.String),
  html_url: Schema.optional(Schema.String),
  user: Account,
  labels: Schema.Array(Schema.Struct({ name: Schema.optional(Schema.String) })),
  merged_at: Schema.NullOr(Schema.String),
  merge_commit_sha: Schema.optional(Schema.NullOr(Schema.String)),
  head: Side,
  base: Side
})
export type Pull = typeof Pull.Type

export const listPulls = get("pulls/list", "/repos/{owner}/{repo}/pulls", {
  docs: "pulls/pulls#list-pull-requests",
  query: ["state", "head", "base", "sort", "direction", ...pages],
  reply: Schema.Array(Pull)
})

export const createPull = post("pulls/create", "/repos/{owner}/{repo}/pulls", {
  docs: "pulls/pulls#create-a-pull-request",
  body: Schema.Struct({
    title: Schema.optional(Schema.String),
    head: Schema.String,
    base: Schema.String,
    body: Schema.optional(Schema.String),
    draft: Schema.optional(Schema.Boolean)
  }),
  reply: Pull
})

export const getPull = get("pulls/get", "/repos/{owner}/{repo}/pulls/{pull_number}", {
  docs: "pulls/pulls#get-a-pull-request",
  reply: Pull
})

export const updatePull = patch("pulls/update", "/repos/{owner}/{repo}/pulls/{pull_number}", {
  docs: "pulls/pulls#update-a-pull-request",
  body: Schema.Struct({
    title: Schema.optional(Schema.String),
    body: Schema.optional(Schema.String),
    state: Schema.optional(Schema.String),
    base: Schema.optional(Schema.String)
  }),
  reply: Pull,
  repeatable: true
})

export const listPullFiles = get("pulls/list-files", "/repos/{owner}/{repo}/pulls/{pull_number}/files", {
  docs: "pulls/pulls#list-pull-requests-files",
  query: pages
})

export const listPullCommits = get(
  "pulls/list-commits",
  "/repos/{owner}/{repo}/pulls/{pull_number}/commits",
  { docs: "pulls/pulls#list-commits-on-a-pull-request", query: pages }
)

/** 204 where it was merged, 404 where not. */
export const isPullMerged = get("pulls/check-if-merged", "/repos/{owner}/{repo}/pulls/{pull_number}/merge", {
  docs: "pulls/pulls#check-if-a-pull-request-has-been-merged",
  status: 204
})

export const mergePull = put("pulls/merge", "/repos/{owner}/{repo}/pulls/{pull_number}/merge", {
  docs: "pulls/pulls#merge-a-pull-request",
  body: Schema.Struct({
    commit_title: Schema.optional(Schema.String),
    commit_message: Schema.optional(Schema.String),
    sha: Schema.optional(Schema.String),
    merge_method: Schema.optional(Schema.String)
  }),
  reply: Schema.Struct({ sha: Oid, merged: Schema.Boolean })
})

/** On GitHub every pull request is also an issue. */
export const addLabels = post("issues/add-labels", "/repos/{owner}/{repo}/issues/{issue_number}/labels", {
  docs: "issues/labels#add-labels-to-an-issue",
  body: Schema.Struct({ labels: Schema.optional(Schema.Array(Schema.String)) }),
  status: 200,
  repeatable: true
})
