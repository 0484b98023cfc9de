import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { JsonObject } from "../../domain/Document.js"
import { mergeDocuments } from "../../domain/merge/MergeDocuments.js"
import { type DocumentMerge, type MergeRules, mergeRulesProblem } from "../../domain/merge/MergeRules.js"
import { fieldsOfSchema } from "../../domain/merge/SchemaRules.js"
import { kindOf } from "../../domain/OptionProblems.js"
import { ConflictError, NotFoundError, ValidationError, type WriteError } from "../../domain/StoreError.js"
import type { ConflictResolver, EditOptions, MergingWriteOptions } from "../Collection.js"
import { documentPath } from "../DocumentPath.js"
import { check } from "./Arguments.js"
import { isBase, readBase } from "./BaseVersion.js"
import type { Codec } from "./Codec.js"
import { describe } from "./Judgement.js"
import type { StoreCore } from "./StoreCore.js"
import { type Place, unreadable, versionOf, withoutMetadata } from "./Versions.js"
import type { NextVersion, StoredVersion, UnitOutcome } from "./WriteUnit.js"

/*
 * Writes that begin with an older version than the one that is stored. Each is an ordinary edit of one document, whose
 * next version is a merge with the version that it finds. What takes time, or a person, happens between the attempts,
 * when no other writer waits: finding the base, and settling what could not be merged.
 */

/** The collection that is written. */
export interface MergeTarget<A, I> {
  readonly core: StoreCore
  readonly collection: string
  readonly codec: Codec<A, I>
  /** Those of the definition. */
  readonly rules: MergeRules | undefined
}

/** What a caller wants of a document, given the version that it is based on. */
type Wanted = (base: StoredVersion) => Effect.Effect<JsonObject, ValidationError>

/** A stored version that an attempt could not build on. */
interface Race {
  readonly error: ConflictError
  /** Undefined where the document was deleted. */
  readonly found: StoredVersion | undefined
  readonly merge: DocumentMerge | undefined
}

type Attempted =
  | { readonly _tag: "Written"; readonly outcome: UnitOutcome }
  | { readonly _tag: "Raced"; readonly race: Race }

interface Writing<A, I> {
  readonly target: MergeTarget<A, I>
  readonly place: Place
  readonly message: string
  readonly rules: MergeRules
}

const refused = (place: Place, message: string, hint?: string, cause?: unknown) =>
  new ValidationError({ ...place, message, hint, cause })

const begin = <A, I>(
  target: MergeTarget<A, I>,
  method: "update" | "replace" | "edit",
  id: string,
  { message, rules }: EditOptions = {}
): Effect.Effect<Writing<A, I>, ValidationError> =>
  Effect.gen(function* () {
    const { codec, collection } = target
    const place: Place = { operation: `Collection.${method}`, collection, id, path: `${collection}/${id}` }
    const fields = codec.schema === undefined ? {} : fieldsOfSchema(codec.schema)
    for (const given of [rules, target.rules, { fields }]) {
      const problem = given === undefined ? undefined : mergeRulesProblem(given)
      if (problem !== undefined) return yield* refused(place, `the rules of merging: ${problem}`)
    }
    return {
      target,
      place,
      message: message ?? `${method} ${place.path}`,
      rules: {
        ...target.rules,
        ...rules,
        fields: { ...fields, ...target.rules?.fields, ...rules?.fields }
      }
    }
  })

const bodyOf = (place: Place, version: StoredVersion): Effect.Effect<JsonObject, ValidationError> =>
  Option.match(version.document, {
    onNone: () => unreadable({ ...place, path: version.path }, version.problem ?? "holds no document"),
    onSome: (document) => Effect.succeed(withoutMetadata(document))
  })

const merged = <A, I>(
  { place, rules }: Writing<A, I>,
  base: JsonObject,
  ours: JsonObject,
  theirs: JsonObject
): Effect.Effect<DocumentMerge, ValidationError> =>
  Effect.try({
    try: () => ({ base, ours, theirs, ...mergeDocuments({ base, ours, theirs }, rules) }),
    catch: (cause) => refused(place, `${place.path} cannot be merged: ${String(cause)}`, undefined, cause)
  })

const inWords = ({ conflicts }: DocumentMerge): string =>
  conflicts.map(({ path }) => (path.length === 0 ? "the document" : path.join("."))).join(", ")

const conflictOf = (
  { place }: Writing<any, any>,
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
          ? `${path} has been changed by others at ${inWords(merge)}, which this write changes too`
          : `${path} has changed since the version that the write is based on`,
    hint:
      found === undefined
        ? "insert it again, or let the deletion stand"
        : "decide about merge.conflicts, and write again with conflicts[0].actual.sha as base",
    conflicts: [{ collection, id, expected: describe(base), actual: describe(found) }],
    merge
  })
}

/** The merge with a deletion: nothing of it can be decided here. */
const withDeletion = (base: JsonObject, ours: JsonObject): DocumentMerge => ({
  base,
  ours,
  document: ours,
  conflicts: [{ path: [], base, ours }]
})

/**
 * One write: builds on a version that `is` the base, or merges with another one where the base is known. Every race
 * with another writer merges anew, until the store's deadline.
 */
const attempt = <A, I>(
  writing: Writing<A, I>,
  is: (found: StoredVersion) => boolean,
  base: StoredVersion | undefined,
  wanted: Wanted
): Effect.Effect<Attempted, WriteError> =>
  Effect.suspend(() => {
    const { message, place, target } = writing
    const { codec, collection, core } = target
    let raced: Omit<Race, "error"> | undefined
    const race = (found: StoredVersion | undefined, merge: DocumentMerge | undefined) => {
      raced = { found, merge }
      return conflictOf(writing, base, found, merge)
    }
    const next = (stored: Option.Option<StoredVersion>): Effect.Effect<NextVersion, WriteError> =>
      Effect.gen(function* () {
        raced = undefined
        if (Option.isNone(stored)) {
          if (base === undefined) return yield* race(undefined, undefined)
          const before = yield* bodyOf(place, base)
          return yield* race(undefined, withDeletion(before, withoutMetadata(yield* wanted(base))))
        }
        const found = stored.value
        if (is(found)) return { document: Option.some(yield* wanted(found)) }
        if (base === undefined) return yield* race(found, undefined)
        const ours = withoutMetadata(yield* wanted(base))
        const merge = yield* merged(writing, yield* bodyOf(place, base), ours, yield* bodyOf(place, found))
        if (merge.conflicts.length > 0) return yield* race(found, merge)
        return { document: Option.some(yield* codec.fits(place, found, merge.document)) }
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
        Effect.map((outcome): Attempted => ({ _tag: "Written", outcome })),
        Effect.catchTag("ConflictError", (error) =>
          raced === undefined
            ? error
            : Effect.succeed<Attempted>({ _tag: "Raced", race: { ...raced, error } })
        )
      )
  })

const isBeforeDeadline = ({ target }: Writing<any, any>) =>
  Effect.map(Clock.currentTimeMillis, (started) => {
    const limit = Duration.toMillis(target.core.options.deadline)
    return Effect.map(Clock.currentTimeMillis, (now) => now - started < limit)
  })

const asked = (resolver: ConflictResolver, place: Place, merge: DocumentMerge) =>
  Effect.flatMap(
    Effect.try({
      try: () => resolver(merge),
      catch: (cause) => refused(place, `onConflict threw: ${String(cause)}`, undefined, cause)
    }),
    (given) => (Effect.isEffect(given) ? given : Effect.succeed(given))
  )

/** Writes what is wanted, merged with what is stored; the resolver is asked about what cannot be merged. */
const write = <A, I>(
  writing: Writing<A, I>,
  { base, onConflict = "merge" }: MergingWriteOptions,
  wanted: Wanted
): Effect.Effect<UnitOutcome, WriteError> =>
  Effect.gen(function* () {
    const { place, target } = writing
    const { codec, core } = target
    if (base === undefined) {
      return yield* refused(
        place,
        "onConflict and rules are for a write with a base",
        "give the version that the write is based on as base"
      )
    }
    const mayGoOn = yield* isBeforeDeadline(writing)
    const first = yield* attempt(writing, (found) => isBase(base, found), undefined, wanted)
    if (first._tag === "Written") return first.outcome
    const { error, found } = first.race
    const known = yield* Effect.either(readBase(core, place, base))
    if (known._tag === "Left") {
      const isAbsent = known.left._tag === "NotFoundError" && found === undefined
      return yield* isAbsent
        ? new NotFoundError({
            ...place,
            message: `${place.path} does not exist`,
            hint: "it was deleted, or it was never there: insert it"
          })
        : onConflict === "fail"
          ? error
          : known.left
    }
    let from = known.right
    let ours = wanted
    if (onConflict === "fail") {
      const mine = withoutMetadata(yield* ours(from))
      const before = yield* bodyOf(place, from)
      const merge =
        found === undefined
          ? withDeletion(before, mine)
          : yield* merged(writing, before, mine, yield* bodyOf(place, found))
      return yield* conflictOf(writing, from, found, merge)
    }
    for (;;) {
      const begun = from
      const next = yield* attempt(writing, ({ oid }) => oid === begun.oid, begun, ours)
      if (next._tag === "Written") return next.outcome
      const { race } = next
      if (onConflict === "merge" || race.merge === undefined || race.found === undefined)
        return yield* race.error
      const settled = yield* asked(onConflict, place, race.merge)
      if (settled === undefined || !(yield* mayGoOn)) return yield* race.error
      const document = yield* (codec as Codec<A, any>).copy(place, settled)
      from = race.found
      ours = (version) => codec.fits(place, version, withoutMetadata(document))
    }
  })

const isBaseLike = (base: unknown): boolean =>
  typeof base === "string" ||
  (typeof base === "number" && Number.isInteger(base)) ||
  (typeof base === "object" && base !== null && "sha" in base && typeof base.sha === "string")

const judged = (place: Place, { base, expectedRev, onConflict }: MergingWriteOptions) => {
  if (base !== undefined && !isBaseLike(base)) {
    const hint = "give what version(id) returned"
    return refused(place, `base must be a revision, a blob id or a version, it is ${kindOf(base)}`, hint)
  }
  const isKnown = onConflict === undefined || onConflict === "merge" || onConflict === "fail"
  if (!isKnown && typeof onConflict !== "function") {
    return refused(place, `onConflict must be "fail", "merge" or a function, it is ${kindOf(onConflict)}`)
  }
  return base === undefined || expectedRev === undefined
    ? Effect.void
    : refused(
        place,
        "base and expectedRev contradict each other",
        "give expectedRev alone to refuse other versions"
      )
}

/** Merges a patch, made for the base, into what is stored. */
export const updateFrom = <A, I>(
  target: MergeTarget<A, I>,
  id: string,
  patch: Partial<I>,
  options: MergingWriteOptions = {}
): Effect.Effect<UnitOutcome, WriteError> =>
  Effect.gen(function* () {
    const writing = yield* begin(target, "update", id, options)
    yield* judged(writing.place, options)
    return yield* write(writing, options, (base) =>
      target.codec.merge({ ...writing.place, path: base.path }, base, patch)
    )
  })

/** Merges a document, made from the base, into what is stored. */
export const replaceFrom = <A, I>(
  target: MergeTarget<A, I>,
  id: string,
  document: JsonObject,
  options: MergingWriteOptions = {}
): Effect.Effect<UnitOutcome, WriteError> =>
  Effect.gen(function* () {
    const writing = yield* begin(target, "replace", id, options)
    yield* judged(writing.place, options)
    return yield* write(writing, options, () => Effect.succeed(document))
  })

/** The document as a reader finds it now. */
const readNow = ({ place, target: { core } }: Writing<any, any>) =>
  Effect.gen(function* () {
    const snapshot = core.snapshot()
    const { settings } = yield* core.settings(snapshot)
    const path = documentPath(core.options.root, settings, place.collection, place.id)
    const file = yield* snapshot.file(path)
    if (Option.isSome(file)) return versionOf(path, file.value)
    return yield* new NotFoundError({
      ...place,
      path,
      message: `${place.path} does not exist`,
      hint: "insert it, or use upsert"
    })
  })

/** Applies a function to a document and writes what it returns, merged with what others have written meanwhile. */
export const edit = <A, I, E2, R2>(
  target: MergeTarget<A, I>,
  id: string,
  next: (document: A) => I | Effect.Effect<I, E2, R2>,
  options?: EditOptions
): Effect.Effect<UnitOutcome, WriteError | E2, R2> =>
  Effect.gen(function* () {
    const given = yield* begin(target, "edit", id, options)
    const { codec, collection } = target
    const { place } = given
    // The function may have counted: what both sides changed in the same way may still be two changes.
    const writing = { ...given, rules: { sameChange: "conflict" as const, ...given.rules } }
    yield* check(place.operation, { collection, id })
    const mayGoOn = yield* isBeforeDeadline(writing)
    let from = yield* readNow(writing)
    for (;;) {
      const begun = from
      const document = yield* codec.read({ ...place, path: begun.path }, begun.content)
      const applied = yield* Effect.try({
        try: () => next(document),
        catch: (cause) => refused(place, `the function threw: ${String(cause)}`, undefined, cause)
      })
      const result = Effect.isEffect(applied) ? yield* applied : applied
      const encoded = yield* codec.encode(place, yield* codec.copy(place, result))
      const attempted = yield* attempt(
        writing,
        ({ oid }) => oid === begun.oid,
        begun,
        () => Effect.succeed(encoded)
      )
      if (attempted._tag === "Written") return attempted.outcome
      const { error, found } = attempted.race
      if (found === undefined || !(yield* mayGoOn)) return yield* error
      from = found
    }
  })
