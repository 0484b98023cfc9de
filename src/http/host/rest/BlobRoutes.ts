import { Effect, Option } from "effect"
import * as Api from "../../../store/remote/github/api/Objects.js"
import { emptyRepository, HostError, notFound, unprocessable } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import { nodeId } from "../repository/NodeId.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as BlobReply from "../request/BlobReply.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import * as FileContent from "../request/FileContent.js"
import * as JsonBody from "../request/JsonBody.js"
import * as JsonFields from "../request/JsonFields.js"
import * as Route from "../request/Route.js"

const servedBytes = 100 * 1024 * 1024

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.getBlob, function* (call, { fullName, git }) {
    const sha = RevisionLookup.oidFrom(call.parameters["file_sha"])
    if (sha === undefined)
      return yield* unprocessable(
        "The sha parameter must be exactly 40 characters and contain only [0-9a-f]."
      )
    const info = yield* git.objectInfo(sha)
    if (Option.isNone(info)) return yield* (yield* RevisionLookup.isEmpty(git)) ? emptyRepository : notFound
    if (info.value.type !== "blob") return yield* notFound
    if (info.value.size > servedBytes) {
      return yield* new HostError({
        status: 403,
        message: "The requested blob is too large to fetch via the API (limit 100 MB).",
        errors: [{ resource: "Blob", field: "data", code: "too_large" }]
      })
    }
    return yield* ConditionalReply.cached(
      call,
      `blob ${sha}`,
      Effect.flatMap(BlobReply.open(call, git, sha, info.value.size), (content) =>
        call.media === "raw"
          ? BlobReply.raw(content)
          : Effect.succeed(
              BlobReply.json(
                {
                  sha,
                  node_id: nodeId("Blob", fullName, sha),
                  size: content.size,
                  url: Links.git(call.links, fullName, "blobs", sha)
                },
                content
              )
            )
      )
    )
  }),
  Route.write(Api.createBlob, function* (call, { fullName, git }) {
    const body = yield* JsonBody.readDeclared(call, Api.createBlob, "content")
    const text = (yield* JsonFields.content(body.fields, "content")) ?? ""
    const { encoding = "utf-8" } = yield* body.get("encoding")
    if (encoding !== "utf-8" && encoding !== "base64") {
      return yield* unprocessable(
        `Invalid request.\n\nFor 'properties/encoding', ${JSON.stringify(encoding.slice(0, 40))} is not one of utf-8, base64.`
      )
    }
    if (yield* RevisionLookup.isEmpty(git)) return yield* emptyRepository
    const content = encoding === "base64" ? yield* FileContent.fromBase64(text) : FileContent.fromUtf8(text)
    const sha = yield* FileContent.store(git, content)
    const url = Links.git(call.links, fullName, "blobs", sha)
    return Reply.json(201, { sha, url }, { location: url })
  })
]
