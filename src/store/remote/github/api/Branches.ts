import * as Schema from "effect/Schema"
import { get, pages, post } from "./Endpoint.js"

export const listBranches = get("repos/list-branches", "/repos/{owner}/{repo}/branches", {
  docs: "branches/branches#list-branches",
  query: ["protected", ...pages]
})

/** 204 where the base has the head already. */
export const merge = post("repos/merge", "/repos/{owner}/{repo}/merges", {
  docs: "branches/branches#merge-a-branch",
  body: Schema.Struct({
    base: Schema.String,
    head: Schema.String,
    commit_message: Schema.optional(Schema.String)
  })
})
