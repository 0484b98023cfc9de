import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Steps from "../../../domain/concurrency/Steps.js"
import { ConflictError, ValidationError, type WriteError } from "../../../domain/errors/StoreError.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import { merging } from "../../../domain/merge/MergeDocuments.js"
import { type DocumentMerge, type MergeRules, mergeRulesProblem } from "../../../domain/merge/MergeRules.js"
import { fieldsOfSchema } from "../../../domain/merge/SchemaRules.js"
import type { Settings } from "../../../domain/settings/Settings.js"
import type { EditOptions } from "../../Collection.js"
import type { Codec } from "../calls/Codec.js"
import type { DocumentOperation, EditOutcome, StoredVersion } from "../commit/DocumentEdit.js"
import type { NextVersion } from "../commit/NextVersion.js"
import { describeVersion } from "../commit/Preconditions.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { type DocumentPlace, givenVersion, unreadableError, withoutMetadata } from "../commit/VersionCodec.js"
import { rulesOfLevels } from "./RuleLevels.js"

/** The collection that is written. */
export interface MergeTarget<A, I> {
  readonly core: StoreCore
  readonly collection: string
  readonly codec: Codec<A, I>
  /** The rules of the definition. */
  readonly rules: MergeRules | undefined
}

/** The content that a caller wants to write, given the version on which it is based. */
export type DesiredContent = (base: StoredVersion) => Effect.Effect<JsonObject, ValidationError>

/** A stored version on which an attempt could not be based. */
export interface Race {
  readonly error: ConflictError
  /** Undefined if the document was deleted. */
  readonly found: StoredVersion | undefined
  readonly merge: DocumentMerge | undefined
}

export type AttemptResult =
  | { readonly _tag: "Written"; readonly outcome: EditOutcome }
  | { readonly _tag: "Raced"; readonly race: Race }

export interface MergeWrite<A, I> {
  readonly target: MergeTarget<A, I>
  readonly place: DocumentPlace
  readonly message: string
  readonly rules: MergeRules
}

export const invalid = (place: DocumentPlace, message: string, hint?: string, cause?: unknown) =>
  new ValidationError({ ...place, message, hint, cause })

export const beginMergeWrite = <A, I>(
  target: MergeTarget<A, I>,
  method: "update" | "replace" | "edit",
  id: string,
  { message, rules }: EditOptions = {}
): Effect.Effect<MergeWrite<A, I>, ValidationError> =>
  Effect.gen(function* () {
    const { codec, collection } = target
    const place: DocumentPlace = {
      operation: `Collection.${method}`,
      collection,
      id,
      path: `${collection}/${id}`
    }
    const fields = codec.schema === undefined ? {} : fieldsOfSchema(codec.schema)
    for (const given of [rules, target.rules, { fields }]) {
      const problem = given === undefined ? undefined : mergeRulesProblem(given)
      if (problem !== undefined) return yield* invalid(place, `the rules of merging: ${problem}`)
    }
    return {
      target,
      place,
      message: message ?? `${method} ${place.path}`,
      rules: rulesOfLevels(rules, target.rules, { fields })
    }
  })

export const requireBody = (
  place: DocumentPlace,
  version: StoredVersion
): Effect.Effect<JsonObject, ValidationError> =>
  Option.match(version.document, {
    onNone: () =>
      unreadableError({ ...place, path: version.path }, version.problem ?? "contains no document"),
    onSome: (document) => Effect.succeed(withoutMetadata(document))
  })

export const mergeVersions = <A, I>(
  { place, rules }: MergeWrite<A, I>,
  settings: Settings,
  base: JsonObject,
  ours: JsonObject,
  theirs: JsonObject
): Effect.Effect<DocumentMerge, ValidationError> =>
  Effect.suspend(() => {
    const recorded = settings.merge.get(place.collection!)
    const all = recorded === undefined ? rules : rulesOfLevels(rules, { fields: recorded })
    return Effect.map(
      Steps.run(() => merging({ base, ours, theirs }, all)),
      (merge) => ({ base, ours, theirs, ...merge })
    )
  }).pipe(
    // A rule is a function of the caller: an exception that it throws is reported as an input error.
    Effect.catchAllDefect((cause) =>
      invalid(place, `${place.path} cannot be merged: ${String(cause)}`, undefined, cause)
    )
  )

const conflictPaths = ({ conflicts }: DocumentMerge): string =>
  conflicts.map(({ path }) => (path.length === 0 ? "the document" : path.join("."))).join(", ")

export const mergeConflict = (
  { place }: MergeWrite<any, any>,
  base: StoredVersion | undefined,
  found: StoredVersion | undefined,
  merge: DocumentMerge | undefined
): ConflictError => {
  const { collection, id, operation, path } = place
  const isMerged = merge !== undefined && found !== undefined
  return new ConflictError({
    operation,
    collection,
    id,
    message:
      found === undefined
        ? `${path} was deleted since the version that the write is based on`
        : isMerged && merge.conflicts.length > 0
          ? `${path} has been changed by others at ${conflictPaths(merge)}, which this write changes too`
          : `${path} has changed since the version that the write is based on`,
    hint:
      found === undefined
        ? "insert it again, or let the deletion stand"
        : "decide about merge.conflicts, and write again with conflicts[0].actual.sha as base",
    conflicts: [{ collection, id, expected: describeVersion(base), actual: describeVersion(found) }],
    merge
  })
}

/** The merge with a deletion, which always conflicts. */
export const withDeletion = (base: JsonObject, ours: JsonObject): DocumentMerge => ({
  base,
  ours,
  document: ours,
  conflicts: [{ path: [], base, ours }]
})

/**
 * One attempt of a write: replaces the stored version if it is the base, and otherwise merges with it if the base is
 * known. After a race with another writer it merges again, until the store's deadline.
 */
export const attemptWrite = <A, I>(
  writing: MergeWrite<A, I>,
  is: (found: StoredVersion) => boolean,
  base: StoredVersion | undefined,
  wanted: DesiredContent
): Effect.Effect<AttemptResult, WriteError> =>
  Effect.suspend(() => {
    const { message, place, target } = writing
    const { codec, collection, core } = target
    let raced: Omit<Race, "error"> | undefined
    let merged: DocumentMerge | undefined
    const race = (found: StoredVersion | undefined, merge: DocumentMerge | undefined) => {
      raced = { found, merge }
      return mergeConflict(writing, base, found, merge)
    }
    const next: DocumentOperation["next"] = (stored, settings) =>
      Effect.gen(function* () {
        raced = undefined
        merged = undefined
        if (Option.isNone(stored)) {
          if (base === undefined) return yield* race(undefined, undefined)
          const before = yield* requireBody(place, base)
          return yield* race(undefined, withDeletion(before, withoutMetadata(yield* wanted(base))))
        }
        const found = stored.value
        if (is(found)) return givenVersion(yield* wanted(found))
        if (base === undefined) return yield* race(found, undefined)
        const ours = withoutMetadata(yield* wanted(base))
        const merge = yield* mergeVersions(
          writing,
          settings,
          yield* requireBody(place, base),
          ours,
          yield* requireBody(place, found)
        )
        if (merge.conflicts.length > 0) return yield* race(found, merge)
        merged = merge
        const document = yield* codec.validate(place, found, merge.document)
        return { ...givenVersion(document), isMerged: true } satisfies NextVersion
      })
    return core
      .write({
        operation: place.operation,
        message,
        mode: "document",
        retries: Number.POSITIVE_INFINITY,
        operations: [{ collection, id: place.id, needs: "any", next }]
      })
      .pipe(
        Effect.map((outcome): AttemptResult => ({ _tag: "Written", outcome })),
        Effect.catchTag("ConflictError", (error) =>
          raced === undefined
            ? new ConflictError({ ...error, message: error.message, merge: merged })
            : Effect.succeed<AttemptResult>({ _tag: "Raced", race: { ...raced, error } })
        )
      )
  })
