import * as Schema from "effect/Schema"
import { Oid } from "../../../../domain/identifiers/Oid.js"
import { del, get, put, withReply } from "./Endpoint.js"
import { Named, PersonInput } from "./Shapes.js"

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

const change = {
  message: Schema.String,
  branch: Schema.optional(Schema.String),
  committer: Schema.optional(PersonInput),
  author: Schema.optional(PersonInput)
}

/** The path is a file, a symbolic link, a submodule, or a directory: an array of at most 1,000 entries. */
export const getContent = get("repos/get-content", "/repos/{owner}/{repo}/contents/{+path}", {
  docs: "repos/contents#get-repository-content",
  query: ["ref"],
  reply: Schema.Union(Schema.Array(ContentEntry), ContentFile)
})

/** The same for a directory, with the media type that includes its id. Older servers do not support it and send an array. */
export const getDirectory = withReply(
  getContent,
  Schema.Union(
    Schema.Array(ContentEntry),
    Schema.Struct({ type: Schema.Literal("dir"), sha: Oid, entries: Schema.Array(ContentEntry) }),
    ContentFile
  )
)

/** 201 for a new file, 200 for another version of one that exists. */
export const putContent = put(
  "repos/create-or-update-file-contents",
  "/repos/{owner}/{repo}/contents/{+path}",
  {
    docs: "repos/contents#create-or-update-file-contents",
    body: Schema.Struct({ content: Schema.String, ...change, sha: Schema.optional(Schema.String) }),
    reply: FileCommit
  }
)

export const deleteContent = del("repos/delete-file", "/repos/{owner}/{repo}/contents/{+path}", {
  docs: "repos/contents#delete-a-file",
  body: Schema.Struct({ ...change, sha: Schema.String }),
  status: 200,
  reply: FileCommit
})
