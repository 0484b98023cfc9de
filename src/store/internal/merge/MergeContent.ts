import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Steps from "../../../domain/concurrency/Steps.js"
import { encode, encodeSliced } from "../../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import {
  type LosslessJson,
  type LosslessObject,
  parseExact,
  toJson
} from "../../../domain/json/LosslessJson.js"
import { LosslessNumber } from "../../../domain/json/NumberText.js"
import { conflictName, isMark } from "../../../domain/merge/ConflictMark.js"
import type { MergeConflict, MergeRules } from "../../../domain/merge/index.js"
import { mergingExact } from "../../../domain/merge/MergeDocuments.js"
import { mergeMetadata } from "../../../domain/merge/Metadata.js"
import { changedNumber, changedNumberProblem, withoutMetadata } from "../commit/VersionCodec.js"

/** The contents of a document's file in three versions; undefined if it is missing. */
export interface Contents {
  readonly base: Uint8Array | undefined
  readonly ours: Uint8Array | undefined
  readonly theirs: Uint8Array | undefined
}

/** The result of merging three versions of a document. */
export type ContentMerge =
  | { readonly _tag: "Unreadable"; readonly problem: string }
  | {
      readonly _tag: "Merged"
      readonly document: LosslessObject
      readonly content: Uint8Array
      readonly conflicts: ReadonlyArray<MergeConflict>
    }

const parsed = (content: Uint8Array | undefined): Either.Either<LosslessObject | undefined, string> =>
  content === undefined ? Either.right(undefined) : parseExact(content)

/** An object without members that are conflict marks; undefined if it is a mark itself. */
const unmarked = (value: LosslessObject): LosslessObject | undefined =>
  isMark(value)
    ? undefined
    : Object.fromEntries(
        Object.entries(value).flatMap(([name, member]): ReadonlyArray<[string, LosslessJson]> => {
          if (typeof member !== "object" || member === null) return [[name, member!]]
          if (Array.isArray(member) || member instanceof LosslessNumber) return [[name, member]]
          const shown = unmarked(member as LosslessObject)
          return shown === undefined ? [] : [[name, shown]]
        })
      )

/** A version as JavaScript represents it; undefined if it is missing or contains no object. */
export const readable = (content: Uint8Array | undefined): JsonObject | undefined =>
  Either.match(parsed(content), {
    onLeft: () => undefined,
    onRight: (document) => toJson(document && unmarked(document)) as JsonObject | undefined
  })

const shownConflict = ({ base, ...others }: MergeConflict): MergeConflict =>
  base === undefined || isMark(base as LosslessJson) ? others : { ...others, base }

const encoded = (document: LosslessObject): Effect.Effect<Uint8Array, string> =>
  Effect.mapError(Effect.flatten(encodeSliced(document)), ({ message, path }) => `${path}: ${message}`)

/** The caller's resolver threw, or returned no side. */
export class DecisionFailed extends Error {
  readonly hint = 'return "ours", "theirs", or undefined, which leaves the place in conflict'
}

/** Merges two existing versions in time slices, because merging long lists takes long. */
export const mergeContents = (
  { base, ours, theirs }: Contents,
  rules: MergeRules
): Effect.Effect<ContentMerge, string | DecisionFailed> =>
  Effect.gen(function* () {
    const [left, right] = [parsed(ours), parsed(theirs)]
    for (const [side, found] of [["ours", left] as const, ["theirs", right] as const]) {
      if (Either.isLeft(found)) return { _tag: "Unreadable", problem: `${side} ${found.left}` } as const
    }
    // An unreadable base is treated as missing: every difference is a conflict.
    const before = Either.getOrElse(parsed(base), () => undefined)
    const versions = { base: before, ours: Either.getOrThrow(left)!, theirs: Either.getOrThrow(right)! }
    const { conflicts, document } = yield* Steps.run(() => mergingExact(versions, rules)).pipe(
      // A rule is a function of the caller: an exception that it throws is reported as an input error.
      Effect.catchAllDefect((cause) =>
        Effect.fail(
          cause instanceof DecisionFailed
            ? cause
            : `a merge rule failed: ${cause instanceof Error ? cause.message : String(cause)}`
        )
      )
    )
    const content = yield* encoded(document)
    return { _tag: "Merged", document, content, conflicts: conflicts.map(shownConflict) } as const
  })

const metadataOf = (document: LosslessObject): LosslessObject =>
  Object.fromEntries(
    ["_rev", "_created_at", "_updated_at"].flatMap((name) =>
      Object.hasOwn(document, name) ? [[name, document[name]!] as const] : []
    )
  )

const sideOf = (content: Uint8Array | undefined): LosslessObject | undefined =>
  Either.getOrElse(parsed(content), () => undefined)

/** The file of a document, with the metadata of a merge. */
const contentOf = ({ ours, theirs }: Contents, id: string, document: LosslessObject) => {
  const [left, right] = [sideOf(ours), sideOf(theirs)]
  const one = left ?? right ?? {}
  const rev = Object.hasOwn(one, "_rev") ? toJson(one["_rev"]) : undefined
  const metadata =
    left !== undefined && right !== undefined
      ? Object.fromEntries(mergeMetadata(left, right))
      : { _rev: (typeof rev === "number" ? rev : 0) + 1 }
  return encoded({ ...withoutMetadata(document), ...metadataOf(one), ...metadata, _id: id })
}

/** The file of the document that the caller made of the versions and their merge. */
export const resolvedContent = (
  contents: Contents,
  id: string,
  document: JsonObject,
  merged?: Uint8Array
): Effect.Effect<Uint8Array, string> =>
  Effect.gen(function* () {
    const content = yield* contentOf(contents, id, document)
    const sources = [contents.base, contents.ours, contents.theirs, merged].flatMap((source) => source ?? [])
    const lost = yield* Steps.run(() => changedNumber(document, sources))
    return lost === undefined ? content : yield* Effect.fail(changedNumberProblem(lost))
  })

/** The file of the document of one side, which must be readable, in place of the merged one. */
export const sideContent = (
  contents: Contents,
  id: string,
  side: "ours" | "theirs"
): Effect.Effect<Uint8Array, string> => contentOf(contents, id, Either.getOrThrow(parsed(contents[side]))!)

const withMark = (
  value: LosslessJson | undefined,
  path: ReadonlyArray<string | number>,
  mark: LosslessObject
): LosslessJson => {
  const [step, ...rest] = path
  if (step === undefined || typeof value !== "object" || value === null) return mark
  if (Array.isArray(value)) return mark
  const object = value as LosslessObject
  return { ...object, [step]: withMark(Object.hasOwn(object, step) ? object[step] : undefined, rest, mark) }
}

/**
 * The document of a merge base that is merged from several. Where these conflict it contains a mark, which differs from
 * every version, so that a difference there conflicts again (as in Git's recursive merge).
 */
export const markedContent = (
  merge: ContentMerge | undefined,
  marks: ReadonlyArray<string | undefined>
): Uint8Array => {
  const mark: LosslessObject = { [conflictName]: marks.map((oid) => oid ?? null) }
  const document =
    merge?._tag === "Merged"
      ? merge.conflicts.reduce<LosslessJson>((whole, { path }) => withMark(whole, path, mark), merge.document)
      : mark
  return Either.getOrThrow(encode(document))
}
