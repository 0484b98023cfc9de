import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Steps from "../../../domain/concurrency/Steps.js"
import { type Unmerged, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { isPlainObject } from "../../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import { sizeProblem } from "../../../domain/json/JsonText.js"
import { kindOf } from "../../../domain/text/ValueKind.js"
import type { FileEntry } from "../../../git/Tree.js"
import { codecOf } from "../calls/Codec.js"
import { readable, resolvedContent, sideContent } from "./MergeContent.js"
import { type BothChanged, type Compared, compareSides, type MergeContext } from "./MergeItems.js"
import { invalidResolution, type Resolutions } from "./MergeResolutions.js"

/** The result for an item: the file of one side, new content, or an unresolved conflict. */
export type Decision =
  | { readonly _tag: "File"; readonly file: FileEntry | undefined }
  | { readonly _tag: "Content"; readonly content: Uint8Array }
  | { readonly _tag: "Conflict" }

export interface ResolvedItem {
  readonly item: BothChanged
  readonly decision: Decision
  readonly conflict: Unmerged | undefined
}

/** The conflict of a merged document that does not match the schema of its collection. */
const schemaConflict = (
  { contents, item }: Compared,
  content: Uint8Array,
  { definitionOf }: MergeContext
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
      blobs: { ours: item.ours?.oid, theirs: item.theirs?.oid },
      conflicts: [],
      problem: `${collection}/${id}, merged, breaks the schema of its collection: ${problem.value}`
    }
  })

/** The error of a merged document whose file no reader accepts. */
const tooLarge = ({ document, path }: BothChanged, message: string) =>
  new ValidationError({
    operation: "Store.merge",
    ...document!,
    path,
    message: `${document!.collection}/${document!.id}: the document: ${message}`,
    hint: "make it smaller on one of the branches, then merge",
    issues: [{ path: "", message }]
  })

/** Merges an item that both sides changed; conflicts are passed to `onConflict`. */
export const resolveItem = (
  item: BothChanged,
  blobs: ReadonlyMap<Oid, Uint8Array>,
  merging: MergeContext,
  resolutions: Resolutions
): Effect.Effect<ResolvedItem, ValidationError> =>
  Effect.gen(function* () {
    const compared = yield* compareSides(item, blobs, merging)

    const side = (name: "ours" | "theirs"): Decision => ({ _tag: "File", file: item[name] })

    const made = (
      content: Uint8Array,
      conflict: Unmerged | undefined
    ): Effect.Effect<ResolvedItem, ValidationError> =>
      Effect.flatMap(
        Steps.run(() => sizeProblem(content)),
        (problem) =>
          problem === undefined
            ? Effect.succeed({ item, conflict, decision: { _tag: "Content", content } })
            : tooLarge(item, problem)
      )

    const written = (
      content: Uint8Array,
      conflict: Unmerged | undefined,
      retry: boolean
    ): Effect.Effect<ResolvedItem, ValidationError> =>
      Effect.flatMap(schemaConflict(compared, content, merging), (broken) =>
        broken === undefined
          ? made(content, conflict)
          : retry
            ? resolve(broken, content)
            : Effect.succeed({ item, conflict: broken, decision: { _tag: "Conflict" } })
      )

    const valid = (content: Effect.Effect<Uint8Array, string>, conflict: Unmerged) =>
      Effect.mapError(content, (problem) => invalidResolution(`${item.path}: ${problem}`, conflict))

    const resolved = (
      conflict: Unmerged,
      document: JsonObject,
      merged: Uint8Array | undefined
    ): Effect.Effect<ResolvedItem, ValidationError> =>
      item.document === undefined
        ? invalidResolution(`${item.path} is not a document and cannot become one`, conflict)
        : Effect.flatMap(
            valid(resolvedContent(compared.contents, item.document.id, document, merged), conflict),
            (content) => written(content, conflict, false)
          )

    /** `merged` is the file of the merged document that the conflict shows. */
    const resolve = (
      conflict: Unmerged,
      merged: Uint8Array | undefined
    ): Effect.Effect<ResolvedItem, ValidationError> =>
      Effect.flatMap(
        Effect.sync(() => resolutions.get(conflict)),
        (resolution): Effect.Effect<ResolvedItem, ValidationError> => {
          if (resolution === undefined)
            return Effect.succeed({ item, conflict, decision: { _tag: "Conflict" } })
          if (resolution === null)
            return Effect.succeed({ item, conflict, decision: { _tag: "File", file: undefined } })
          const isSide = resolution === "ours" || resolution === "theirs"
          if (conflict.kind === "changed" && (isSide || typeof resolution === "function")) {
            return Effect.flatMap(compareSides(item, blobs, merging, resolution), (settled) =>
              settled.conflict === undefined
                ? written(settled.merge.content, conflict, true)
                : Effect.succeed({ item, conflict, decision: { _tag: "Conflict" } })
            )
          }
          if (conflict.kind === "invalid" && isSide) {
            return Effect.flatMap(
              valid(sideContent(compared.contents, conflict.id, resolution), conflict),
              (content) => made(content, conflict)
            )
          }
          if (isSide) return Effect.succeed({ item, conflict, decision: side(resolution) })
          return typeof resolution === "object" && isPlainObject(resolution)
            ? resolved(conflict, resolution, merged)
            : invalidResolution(
                `onConflict returned ${kindOf(resolution)} for ${conflict.path}, which is not a plain object`,
                conflict
              )
        }
      )

    return yield* compared.conflict === undefined
      ? written(compared.merge.content, undefined, true)
      : resolve(compared.conflict, compared.merge?._tag === "Merged" ? compared.merge.content : undefined)
  })
