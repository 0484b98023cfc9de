import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { JsonObject } from "../../domain/Document.js"
import type { Oid } from "../../domain/Oid.js"
import { type Unmerged, ValidationError } from "../../domain/StoreError.js"
import type { MergeOptions, Resolution } from "../Branches.js"
import { codecOf } from "./Codec.js"
import { readable, resolvedContent } from "./MergeContent.js"
import { type BothChanged, type Compared, compareSides, type Merging } from "./MergeItems.js"

/** What an item becomes: the blob of one side, or new content; or the conflict that nobody has decided. */
export type Decision =
  | { readonly _tag: "Blob"; readonly oid: Oid | undefined }
  | { readonly _tag: "Content"; readonly content: Uint8Array }
  | { readonly _tag: "Conflict" }

export interface Decided {
  readonly item: BothChanged
  readonly decision: Decision
  readonly conflict: Unmerged | undefined
}

const invalid = (message: string, conflict: Unmerged) =>
  new ValidationError({
    operation: "Store.merge",
    path: conflict.path,
    collection: conflict.collection,
    id: conflict.id,
    message,
    hint: 'return "ours", "theirs", a document, null for no document, or undefined to leave it a conflict'
  })

/** What the option `onConflict` says of a conflict. */
export const resolutionOf = (
  onConflict: MergeOptions["onConflict"],
  conflict: Unmerged
): Effect.Effect<Resolution, ValidationError> => {
  if (typeof onConflict !== "function") {
    return Effect.succeed(onConflict === "ours" || onConflict === "theirs" ? onConflict : undefined)
  }
  return Effect.flatMap(
    Effect.try({
      try: () => onConflict(conflict),
      catch: (cause) => invalid(`onConflict failed for ${conflict.path}: ${String(cause)}`, conflict)
    }),
    (given) => (Effect.isEffect(given) ? given : Effect.succeed(given))
  )
}

/** The conflict of a merged document that breaks the schema of its collection. */
const schemaConflict = (
  { contents, item }: Compared,
  content: Uint8Array,
  { definitionOf }: Merging
): Effect.Effect<Unmerged | undefined> =>
  Effect.gen(function* () {
    const definition = item.document && definitionOf(item.document.collection)
    const document = readable(content)
    if (item.document === undefined || definition === undefined || document === undefined) return undefined
    const problem = codecOf(definition).problem(document, yield* Effect.context<never>())
    if (Option.isNone(problem)) return undefined
    const { collection, id } = item.document
    return {
      kind: "invalid",
      path: item.path,
      collection,
      id,
      base: readable(contents.base),
      ours: readable(contents.ours),
      theirs: readable(contents.theirs),
      document,
      conflicts: [],
      problem: `${collection}/${id}, merged, breaks the schema of its collection: ${problem.value}`
    }
  })

/** Merges an item that both sides changed, and lets `onConflict` decide where that does not do. */
export const decide = (
  item: BothChanged,
  blobs: ReadonlyMap<Oid, Uint8Array>,
  merging: Merging,
  onConflict: MergeOptions["onConflict"]
): Effect.Effect<Decided, ValidationError> =>
  Effect.gen(function* () {
    const compared = yield* compareSides(item, blobs, merging)

    const side = (name: "ours" | "theirs"): Decision => ({ _tag: "Blob", oid: item[name] })

    const written = (
      content: Uint8Array,
      conflict: Unmerged | undefined,
      retry: boolean
    ): Effect.Effect<Decided, ValidationError> =>
      Effect.flatMap(schemaConflict(compared, content, merging), (broken) =>
        broken === undefined
          ? Effect.succeed({ item, conflict, decision: { _tag: "Content", content } })
          : retry
            ? resolve(broken, false)
            : Effect.succeed({ item, conflict: broken, decision: { _tag: "Conflict" } })
      )

    const resolved = (conflict: Unmerged, document: JsonObject): Effect.Effect<Decided, ValidationError> =>
      item.document === undefined
        ? invalid(`${item.path} is no document: it cannot become one`, conflict)
        : Effect.flatMap(
            Either.mapLeft(resolvedContent(compared.contents, item.document.id, document), (problem) =>
              invalid(`${item.path}: ${problem}`, conflict)
            ),
            (content) => written(content, conflict, false)
          )

    const resolve = (conflict: Unmerged, first: boolean): Effect.Effect<Decided, ValidationError> =>
      Effect.flatMap(
        resolutionOf(onConflict, conflict),
        (resolution): Effect.Effect<Decided, ValidationError> => {
          if (resolution === undefined)
            return Effect.succeed({ item, conflict, decision: { _tag: "Conflict" } })
          if (resolution === null)
            return Effect.succeed({ item, conflict, decision: { _tag: "Blob", oid: undefined } })
          if (resolution === "ours" || resolution === "theirs") {
            if (conflict.kind !== "changed")
              return Effect.succeed({ item, conflict, decision: side(resolution) })
            return Effect.flatMap(compareSides(item, blobs, merging, resolution), ({ merge }) =>
              merge?._tag === "Merged"
                ? written(merge.content, conflict, first)
                : Effect.succeed({ item, conflict, decision: side(resolution) })
            )
          }
          return typeof resolution === "object" && !Array.isArray(resolution)
            ? resolved(conflict, resolution)
            : invalid(
                `onConflict returned ${JSON.stringify(resolution) ?? String(resolution)} for ${conflict.path}`,
                conflict
              )
        }
      )

    if (compared.conflict !== undefined) return yield* resolve(compared.conflict, true)
    const { merge } = compared
    if (merge?._tag !== "Merged") return { item, conflict: undefined, decision: side("ours") }
    return yield* written(merge.content, undefined, true)
  })
