import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RemoteError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { Change, TreeEntry } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import type { CallFailure, Client } from "../client/Client.js"
import { asText, encodeBase64 } from "../objects/Base64.js"
import { inChunks, inlineMax } from "../objects/TreeChunks.js"

const uploadBlob = (client: Client, content: Uint8Array): Effect.Effect<Oid, CallFailure> =>
  Effect.map(
    client.call(Api.createBlob, {
      path: {},
      body: { content: encodeBase64(content), encoding: "base64" }
    }),
    (reply) => Option.getOrThrow(reply.value).sha
  )

interface Entry {
  readonly input: Api.TreeInput
  readonly bytes: number
}

/** The mode of the entry at a path of the base; undefined: there is none. */
type ModeAt = (path: string) => Effect.Effect<TreeEntry["mode"] | undefined, CallFailure | RemoteError>

const typeOf = (mode: TreeEntry["mode"]) =>
  mode === "160000" ? "commit" : mode === "040000" ? "tree" : "blob"

const entryOf = (
  client: Client,
  modeAt: ModeAt,
  change: Change
): Effect.Effect<Entry, CallFailure | RemoteError> => {
  const base = { path: change.path, mode: "100644", type: "blob" } as const
  if (change._tag === "Remove") {
    // A submodule has another mode and type than a file.
    const known = change.mode === undefined ? modeAt(change.path) : Effect.succeed(change.mode)
    return Effect.map(known, (found) => {
      // For a directory, GitHub refuses the removal of a file.
      const mode = found === undefined || found === "040000" ? base.mode : found
      return { input: { ...base, mode, type: typeOf(mode), sha: null }, bytes: 0 }
    })
  }
  if (change._tag === "Link") {
    const { mode = "100644", oid } = change
    return Effect.succeed({ input: { ...base, mode, type: typeOf(mode), sha: oid }, bytes: 0 })
  }
  const text = change.content.length <= inlineMax ? asText(change.content) : undefined
  return text === undefined
    ? Effect.map(uploadBlob(client, change.content), (sha) => ({ input: { ...base, sha }, bytes: 0 }))
    : Effect.succeed({ input: { ...base, content: text }, bytes: change.content.length })
}

const isTooMuch = (error: CallFailure) =>
  error._tag === "ApiFailure" &&
  (error.kind === "TooMuch" || error.kind === "Server" || error.kind === "TimedOut")

const postTree = (
  client: Client,
  base: Oid | undefined,
  entries: ReadonlyArray<Api.TreeInput>
): Effect.Effect<Oid, CallFailure> =>
  client.call(Api.createTree, { path: {}, body: { base_tree: base, tree: entries } }).pipe(
    Effect.map((reply) => Option.getOrThrow(reply.value).sha),
    Effect.catchIf(
      (error) => isTooMuch(error) && entries.length > 1,
      () => {
        const half = Math.ceil(entries.length / 2)
        return Effect.flatMap(postTree(client, base, entries.slice(0, half)), (middle) =>
          postTree(client, middle, entries.slice(half))
        )
      }
    )
  )

/** Creates the tree of `base` with `changes` in as few requests as the host accepts; no request without changes. */
export const writeTree = (
  client: Client,
  base: Oid | undefined,
  modeAt: ModeAt,
  changes: ReadonlyArray<Change>
): Effect.Effect<Oid | undefined, CallFailure | RemoteError> =>
  Effect.forEach(changes, (change) => entryOf(client, modeAt, change), {
    concurrency: client.settings.concurrency
  }).pipe(
    Effect.flatMap((entries) =>
      Effect.reduce(inChunks(entries), base, (tree, chunk) =>
        postTree(
          client,
          tree,
          chunk.map((entry) => entry.input)
        )
      )
    )
  )
