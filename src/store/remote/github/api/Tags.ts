import * as Schema from "effect/Schema"
import { get, pages, post } from "./Endpoint.js"
import { PersonInput } from "./Shapes.js"

export const listTags = get("repos/list-tags", "/repos/{owner}/{repo}/tags", {
  docs: "repos/repos#list-repository-tags",
  query: pages
})

export const getTag = get("git/get-tag", "/repos/{owner}/{repo}/git/tags/{tag_sha}", {
  docs: "git/tags#get-a-tag"
})

export const createTag = post("git/create-tag", "/repos/{owner}/{repo}/git/tags", {
  docs: "git/tags#create-a-tag-object",
  body: Schema.Struct({
    tag: Schema.String,
    message: Schema.String,
    object: Schema.String,
    type: Schema.String,
    tagger: Schema.optional(PersonInput)
  })
})
