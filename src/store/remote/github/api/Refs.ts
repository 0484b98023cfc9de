import * as Schema from "effect/Schema"
import { Oid } from "../../../../domain/identifiers/Oid.js"
import { del, get, patch, post } from "./Endpoint.js"

const GitRef = Schema.Struct({
  ref: Schema.String,
  object: Schema.Struct({ type: Schema.String, sha: Oid })
})

export const getRef = get("git/get-ref", "/repos/{owner}/{repo}/git/ref/{+ref}", {
  docs: "git/refs#get-a-reference",
  reply: GitRef
})

export const listMatchingRefs = get(
  "git/list-matching-refs",
  "/repos/{owner}/{repo}/git/matching-refs/{+ref}",
  { docs: "git/refs#list-matching-references", reply: Schema.Array(GitRef) }
)

export const createRef = post("git/create-ref", "/repos/{owner}/{repo}/git/refs", {
  docs: "git/refs#create-a-reference",
  body: Schema.Struct({ ref: Schema.String, sha: Schema.String }),
  reply: GitRef
})

export const updateRef = patch("git/update-ref", "/repos/{owner}/{repo}/git/refs/{+ref}", {
  docs: "git/refs#update-a-reference",
  body: Schema.Struct({ sha: Schema.String, force: Schema.optional(Schema.Boolean) }),
  reply: GitRef
})

export const deleteRef = del("git/delete-ref", "/repos/{owner}/{repo}/git/refs/{+ref}", {
  docs: "git/refs#delete-a-reference"
})
