import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RemoteError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../../git/GitObject.js"
import type { Blob } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isMissing } from "../client/ApiFailure.js"
import { type CallFailure, type Client, rawMedia } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"
import { decodeBase64 } from "./Base64.js"
import type { ObjectCache } from "./ObjectCache.js"

/** Reads a blob that a tree contains. It exists, so a 404 is retried. Its content is checked against its id. */
export type ReadBlob = (oid: Oid, path: string) => Effect.Effect<Blob, CallFailure | RemoteError>

export const makeReadBlob = (client: Client, cache: ObjectCache): ReadBlob => {
  const checked = (oid: Oid, path: string, bytes: Uint8Array): Effect.Effect<Blob, RemoteError> => {
    const proven = (content: Uint8Array) => {
      cache.putBlob(oid, content)
      return Effect.succeed({ path, oid, content })
    }
    if (GitObject.hash("blob", bytes) === oid) return proven(bytes)
    // A host without the raw media type sends the blob as JSON.
    const content = /"content"\s*:\s*"([^"]*)"/.exec(
      new TextDecoder().decode(bytes.subarray(0, 200_000_000))
    )?.[1]
    const decoded = content === undefined ? undefined : decodeBase64(content.replaceAll("\\n", ""))
    return decoded !== undefined && GitObject.hash("blob", decoded) === oid
      ? proven(decoded)
      : Effect.fail(
          new RemoteError({
            operation: "GitRemote.file",
            path,
            reason: "Corrupt",
            message: `the content of ${path} is not that of blob ${oid.slice(0, 7)}`,
            hint: "the answer was changed on its way: check proxies"
          })
        )
  }

  return (oid, path) =>
    Effect.suspend(() => {
      const held = cache.blob(oid)
      if (held !== undefined) return Effect.succeed({ path, oid, content: held })
      return Effect.flatMap(
        retryStaleReply(client.call(Api.getBlob, { path: { file_sha: oid }, accept: rawMedia }), isMissing),
        (reply) => checked(oid, path, Option.getOrThrow(reply.value))
      )
    })
}
