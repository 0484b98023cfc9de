import { Effect, Option, Stream } from "effect"
import type { GraphQLResolveInfo } from "graphql"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import type { TreeEntry } from "../../../git/Tree.js"
import * as BlobSizes from "../repository/BlobSizes.js"
import type { HostedRepository } from "../repository/Repositories.js"
import { incompleteBytes } from "../request/Utf8Boundary.js"
import { type Text, text, textBytes } from "./BlobText.js"
import { gitObjectFields } from "./GitObjectFields.js"
import { resourceLimitsExceeded } from "./GraphQlFailure.js"
import { countFields, maxListed } from "./QueryCost.js"
import { andThen, type MaybePromise, type ResolverContext } from "./ResolverContext.js"

const sizeOf = (context: ResolverContext, hosted: HostedRepository, entry: TreeEntry) =>
  BlobSizes.known(entry) ?? context.run(Effect.map(BlobSizes.of(hosted.git, entry), (size) => size ?? 0))

const asEntry = (oid: Oid): TreeEntry => ({ path: "", mode: "100644", kind: "blob", oid })

// An object id determines the content of its blob, so texts are cached across repositories without expiry.
const texts = new LruCache<Text>(16 * 1024 * 1024, ({ text }) => 2 * (text?.length ?? 0) + 200)

/** Reads the beginning of a blob, slightly more than its text may show. */
const beginning = (hosted: HostedRepository, oid: Oid) =>
  Effect.gen(function* () {
    const found = yield* hosted.git.openObject(oid)
    if (Option.isNone(found)) return new Uint8Array()
    const pieces: Array<Uint8Array> = []
    let length = 0
    yield* Stream.runForEachWhile(found.value.pieces, (piece) =>
      Effect.sync(() => {
        pieces.push(piece)
        length += piece.length
        return length <= textBytes + 4
      })
    )
    const bytes = Buffer.concat(pieces)
    return bytes.subarray(0, bytes.length - incompleteBytes(bytes))
  }).pipe(Effect.scoped)

const textOf = (context: ResolverContext, hosted: HostedRepository, oid: Oid): MaybePromise<Text> =>
  texts.get(oid) ??
  context.run(
    Effect.flatMap(BlobSizes.of(hosted.git, asEntry(oid)), (size = 0) => {
      const content =
        size > textBytes
          ? beginning(hosted, oid)
          : Effect.map(
              hosted.git.object(oid),
              Option.match({ onNone: () => new Uint8Array(), onSome: (object) => object.content })
            )
      const read = Effect.map(content, (bytes) => {
        const shown = text(bytes)
        texts.set(oid, shown)
        return shown
      })
      return context.call.host.replyMemory.withMemory(size, read)
    })
  )

/** The maximum number of characters of blob texts in one reply. */
const maxTextLength = 64_000_000

export const blob = (context: ResolverContext, hosted: HostedRepository, oid: Oid) => {
  let read: MaybePromise<Text> | undefined
  const content = () => {
    if (read !== undefined) return read
    if (context.usage.texts > maxTextLength) throw resourceLimitsExceeded()
    read = andThen(textOf(context, hosted, oid), (shown) => {
      context.usage.texts += shown.text?.length ?? 0
      if (context.usage.texts > maxTextLength) throw resourceLimitsExceeded()
      return shown
    })
    return read
  }
  return {
    ...gitObjectFields("Blob", context, hosted, oid),
    byteSize: () => sizeOf(context, hosted, asEntry(oid)),
    isBinary: () => andThen(content(), ({ isBinary }) => isBinary),
    isTruncated: () => andThen(content(), ({ isTruncated }) => isTruncated),
    text: () => andThen(content(), (shown) => shown.text)
  }
}

const fieldCounts = new WeakMap<GraphQLResolveInfo["fieldNodes"], number>()

/** The number of fields that a query selects of each entry. */
const fieldsOf = ({ fieldNodes, fragments }: GraphQLResolveInfo) => {
  const counted = fieldCounts.get(fieldNodes)
  if (counted !== undefined) return counted
  const fields = fieldNodes.reduce(
    (sum, { selectionSet }) => countFields(selectionSet, (name) => fragments[name], sum),
    0
  )
  fieldCounts.set(fieldNodes, fields)
  return fields
}

export const tree = (context: ResolverContext, hosted: HostedRepository, oid: Oid, path: string) => ({
  ...gitObjectFields("Tree", context, hosted, oid),
  entries: (_: unknown, __: unknown, info: GraphQLResolveInfo) =>
    andThen(context.run(hosted.git.tree(oid, "")), (found) => {
      const entries = Option.match(found, { onNone: () => [], onSome: (one) => one.entries })
      context.usage.listed += entries.length * fieldsOf(info)
      if (context.usage.listed > maxListed) throw resourceLimitsExceeded()
      return entries.map((one) => entry(context, hosted, one, path === "" ? one.path : `${path}/${one.path}`))
    })
})

export const entryObject = (
  context: ResolverContext,
  hosted: HostedRepository,
  found: TreeEntry,
  path: string
) =>
  found.kind === "blob"
    ? blob(context, hosted, found.oid)
    : found.kind === "tree"
      ? tree(context, hosted, found.oid, path)
      : null

const base64 = (value: string) => Buffer.from(value).toString("base64")

export const entry = (context: ResolverContext, hosted: HostedRepository, found: TreeEntry, path: string) => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  return {
    name,
    nameRaw: () => base64(name),
    path,
    pathRaw: () => base64(path),
    mode: Number.parseInt(found.mode, 8),
    type: found.kind,
    oid: found.oid,
    extension: () => /\.[^.]*$/.exec(name)?.[0] ?? "",
    isGenerated: false,
    repository: () => context.objects.repository(context, hosted),
    object: () => entryObject(context, hosted, found, path),
    size: () => (found.kind === "blob" ? sizeOf(context, hosted, found) : 0)
  }
}
