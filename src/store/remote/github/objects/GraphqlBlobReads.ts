import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Oid } from "../../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../../git/GitObject.js"
import { ApiFailure, isUnknownCommit } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import { retryStaleReply } from "../client/Retry.js"

/** A blob by its id, or by a path of a commit or tree. */
export interface BlobLookup {
  readonly at: Oid
  readonly path: string
  readonly oid?: Oid | undefined
  /** `at` is known to exist: a reply that denies it comes from a stale replica. */
  readonly exists?: boolean | undefined
}

/** `Elsewhere`: the file has to be read as a blob, because it is large or binary, or its text does not match its id. */
export type BatchedBlob =
  | { readonly _tag: "Text"; readonly oid: Oid; readonly content: Uint8Array }
  | { readonly _tag: "Elsewhere"; readonly oid: Option.Option<Oid> }
  /** `isDirectory`: the path is not a file. */
  | { readonly _tag: "Absent"; readonly isDirectory?: boolean }

const Answer = Schema.Struct({
  repository: Schema.NullOr(
    Schema.Record({
      key: Schema.String,
      value: Schema.NullOr(
        Schema.Struct({
          oid: Schema.optional(Oid),
          text: Schema.optional(Schema.NullOr(Schema.String)),
          isTruncated: Schema.optional(Schema.Boolean),
          isBinary: Schema.optional(Schema.NullOr(Schema.Boolean))
        })
      )
    })
  )
})

const encoder = new TextEncoder()
const elsewhere = (oid?: Oid): BatchedBlob => ({ _tag: "Elsewhere", oid: Option.fromNullable(oid) })

/** Many files in one query, as aliases. All of them are of one commit, so they are consistent. */
export const blobsDocument = (count: number, byOid: (index: number) => boolean) => {
  const each = Array.from({ length: count }, (_, index) => index)
  const variables = each.map((index) => `$v${index}: ${byOid(index) ? "GitObjectID!" : "String!"}`)
  const byPath = each.some((index) => !byOid(index))
  if (byPath) variables.push("$at: GitObjectID!")
  const fields = each.map(
    (index) => `    d${index}: object(${byOid(index) ? "oid" : "expression"}: $v${index}) { ...Document }`
  )
  return `query Documents($owner: String!, $name: String!, ${variables.join(", ")}) {
  repository(owner: $owner, name: $name) {
${byPath ? "    at: object(oid: $at) { oid }\n" : ""}${fields.join("\n")}
  }
}
fragment Document on Blob { oid text isTruncated isBinary }`
}

/** Reads a batch of files by GraphQL. A batch that is too large for the host is halved. */
export const readBlobsByGraphql = (
  client: Client,
  lookups: ReadonlyArray<BlobLookup>
): Effect.Effect<ReadonlyArray<BatchedBlob>, CallFailure> => {
  if (lookups.length === 0) return Effect.succeed([])
  const { owner, repo } = client.settings.address
  const values = Object.fromEntries(
    lookups.map((lookup, index) => [`v${index}`, lookup.oid ?? `${lookup.at}:${lookup.path}`])
  )
  const byPath = lookups.find((lookup) => lookup.oid === undefined)
  const ask = client
    .graphql(
      blobsDocument(lookups.length, (index) => lookups[index]?.oid !== undefined),
      { owner, name: repo, ...values, at: byPath?.at },
      Answer,
      { partial: true }
    )
    .pipe(
      Effect.filterOrFail(
        ({ data, partial }) =>
          partial || byPath?.exists !== true || data.repository === null || data.repository["at"] !== null,
        () =>
          new ApiFailure({ kind: "Missing", endpoint: "graphql", message: `No commit found: ${byPath?.at}` })
      )
    )
  return retryStaleReply(ask, isUnknownCommit).pipe(
    Effect.map(({ data, partial }) =>
      lookups.map((lookup, index): BatchedBlob => {
        const found = data.repository?.[`d${index}`]
        if (found === null || found === undefined) {
          if (lookup.oid !== undefined) return elsewhere(lookup.oid)
          return partial || data.repository === null ? elsewhere() : { _tag: "Absent" }
        }
        if (found.oid === undefined) return { _tag: "Absent", isDirectory: true }
        if (typeof found.text !== "string" || found.isTruncated !== false || found.isBinary === true) {
          return elsewhere(found.oid)
        }
        const content = encoder.encode(found.text)
        return GitObject.hash("blob", content) === found.oid
          ? { _tag: "Text", oid: found.oid, content }
          : elsewhere(found.oid)
      })
    ),
    Effect.catchIf(
      (error) =>
        error._tag === "ApiFailure" &&
        (error.kind === "Server" || error.kind === "TimedOut") &&
        lookups.length > 1,
      () => {
        const half = Math.ceil(lookups.length / 2)
        return Effect.zipWith(
          readBlobsByGraphql(client, lookups.slice(0, half)),
          readBlobsByGraphql(client, lookups.slice(half)),
          (left, right) => [...left, ...right]
        )
      }
    )
  )
}
