import { Effect, Option } from "effect"
import * as Api from "../../../store/remote/github/api/Objects.js"
import * as Links from "../reply/Links.js"
import { emptyRepository, notFound, Problem, unprocessable } from "../reply/Problem.js"
import * as Reply from "../reply/Reply.js"
import { nodeId } from "../repository/Names.js"
import * as Revision from "../repository/Revision.js"
import * as BlobBody from "../request/BlobBody.js"
import * as Conditional from "../request/Conditional.js"
import * as Fields from "../request/Fields.js"
import * as FileContent from "../request/FileContent.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Route from "../request/Route.js"

const servedBytes = 100 * 1024 * 1024

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.getBlob, function* (call, { fullName, git }) {
    const sha = Revision.asOid(call.parameters["file_sha"])
    if (sha === undefined)
      return yield* unprocessable(
        "The sha parameter must be exactly 40 characters and contain only [0-9a-f]."
      )
    const info = yield* git.objectInfo(sha)
    if (Option.isNone(info)) return yield* (yield* Revision.isEmpty(git)) ? emptyRepository : notFound
    if (info.value.type !== "blob") return yield* notFound
    if (info.value.size > servedBytes) {
      return yield* new Problem({
        status: 403,
        message: "The requested blob is too large to fetch via the API (limit 100 MB).",
        errors: [{ resource: "Blob", field: "data", code: "too_large" }]
      })
    }
    return yield* Conditional.keyed(
      call,
      `blob ${sha}`,
      Effect.flatMap(BlobBody.content(call, git, sha, info.value.size), (content) =>
        call.media === "raw"
          ? BlobBody.raw(content)
          : Effect.succeed(
              BlobBody.json(
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
    const body = yield* JsonBody.of(call, Api.createBlob, "content")
    const text = (yield* Fields.content(body.fields, "content")) ?? ""
    const { encoding = "utf-8" } = yield* body.get("encoding")
    if (encoding !== "utf-8" && encoding !== "base64") {
      return yield* unprocessable(
        `Invalid request.\n\nFor 'properties/encoding', ${JSON.stringify(encoding.slice(0, 40))} is not one of utf-8, base64.`
      )
    }
    if (yield* Revision.isEmpty(git)) return yield* emptyRepository
    const content = encoding === "base64" ? yield* FileContent.fromBase64(text) : FileContent.fromUtf8(text)
    const sha = yield* FileContent.store(git, content)
    const url = Links.git(call.links, fullName, "blobs", sha)
    return Reply.plain(201, { sha, url }, { location: url })
  })
]
