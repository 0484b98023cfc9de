import { Effect, Option } from "effect"
import { notFound } from "../reply/HostError.js"
import * as BlobSizes from "../repository/BlobSizes.js"
import { isPath } from "../repository/HostNames.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as BlobReply from "../request/BlobReply.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import * as Route from "../request/Route.js"

/** The maximum number of segments of a branch name in a raw URL. */
const deepest = 8

/** Serves `/raw/OWNER/REPO/REF/PATH`: the bytes of a file, with headers that keep browsers from running it. */
export const route = Route.read(
  { method: "GET", path: "/{owner}/{repo}/{path*}", docs: "rest" },
  function* (call, { git }) {
    const segments = (call.parameters["path"] ?? "").split("/")
    for (let length = 1; length < Math.min(segments.length, deepest); length++) {
      const ref = segments.slice(0, length).join("/")
      const commit = yield* RevisionLookup.commitOf(git, ref)
      if (Option.isNone(commit)) continue
      const path = segments.slice(length).join("/")
      const entry = isPath(path) ? yield* git.lookup(commit.value.tree, path) : Option.none()
      if (Option.isNone(entry) || entry.value.kind !== "blob") continue
      const { oid } = entry.value
      const fixed = RevisionLookup.oidFrom(ref) !== undefined
      const read = Effect.flatMap(BlobSizes.of(git, entry.value), (size) =>
        Effect.flatMap(BlobReply.open(call, git, oid, size ?? 0), BlobReply.raw)
      )
      const reply = yield* ConditionalReply.cached(call, `raw ${oid}`, read)
      const cache = fixed ? "max-age=31536000, immutable" : "no-cache"
      return { ...reply, headers: { ...reply.headers, "cache-control": cache } }
    }
    return yield* notFound
  }
)
