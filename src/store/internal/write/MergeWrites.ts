import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { NotFoundError, type WriteError } from "../../../domain/errors/StoreError.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import type { DocumentMerge } from "../../../domain/merge/MergeRules.js"
import { kindOf } from "../../../domain/text/ValueKind.js"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import type { ConflictResolver, EditOptions, MergingWriteOptions } from "../../Collection.js"
import { documentPath } from "../../DocumentPath.js"
import { checkArguments } from "../calls/Arguments.js"
import type { Codec } from "../calls/Codec.js"
import type { EditOutcome, StoredVersion } from "../commit/DocumentEdit.js"
import { type DocumentPlace, readVersion, withoutMetadata } from "../commit/VersionCodec.js"
import { isBase, readBase } from "./BaseVersion.js"
import {
  attemptWrite,
  beginMergeWrite,
  type DesiredContent,
  invalid,
  type MergeTarget,
  type MergeWrite,
  mergeConflict,
  mergeVersions,
  requireBody,
  withDeletion
} from "./MergeAttempt.js"

/*
 * Writes that are based on an older version than the stored one. Each is an edit of one document, whose next version is
 * the merge with the stored version. Slow steps run between the attempts, while no other writer is blocked: searching
 * the base in the history, and asking the resolver.
 */

const isBeforeDeadline = ({ target }: MergeWrite<any, any>) =>
  Effect.map(Monotonic.millis, (started) => {
    const limit = Duration.toMillis(target.core.options.deadline)
    return Effect.map(Monotonic.millis, (now) => now - started < limit)
  })

const asked = (resolver: ConflictResolver, place: DocumentPlace, merge: DocumentMerge) =>
  Effect.flatMap(
    Effect.try({
      try: () => resolver(merge),
      catch: (cause) => invalid(place, `onConflict threw: ${String(cause)}`, undefined, cause)
    }),
    (given) => (Effect.isEffect(given) ? given : Effect.succeed(given))
  )

/** Writes the desired content, merged with the stored version. Conflicts are passed to the resolver. */
const write = <A, I>(
  writing: MergeWrite<A, I>,
  { base, onConflict = "merge" }: MergingWriteOptions,
  wanted: DesiredContent
): Effect.Effect<EditOutcome, WriteError> =>
  Effect.gen(function* () {
    const { place, target } = writing
    const { codec, core } = target
    if (base === undefined) {
      return yield* invalid(
        place,
        "onConflict and rules are for a write with a base",
        "give the version that the write is based on as base"
      )
    }
    const mayGoOn = yield* isBeforeDeadline(writing)
    // Several versions may have one revision: the history determines which one is the base, or that it is ambiguous.
    const numbered = typeof base === "number" ? yield* Effect.either(readBase(core, place, base)) : undefined
    const is = (found: StoredVersion) =>
      numbered === undefined
        ? isBase(base, found)
        : numbered._tag === "Right" && numbered.right.oid === found.oid
    const first = yield* attemptWrite(writing, is, undefined, wanted)
    if (first._tag === "Written") return first.outcome
    const { error, found } = first.race
    const readable = numbered ?? (yield* Effect.either(readBase(core, place, base)))
    if (readable._tag === "Left") {
      const isAbsent = readable.left._tag === "NotFoundError" && found === undefined
      return yield* isAbsent
        ? new NotFoundError({
            ...place,
            message: `${place.path} does not exist`,
            hint: "it was deleted, or it was never there: insert it"
          })
        : onConflict === "fail"
          ? error
          : readable.left
    }
    let from = readable.right
    let ours = wanted
    if (onConflict === "fail") {
      const mine = withoutMetadata(yield* ours(from))
      const before = yield* requireBody(place, from)
      const { settings } = yield* core.settings(core.snapshot())
      const merge =
        found === undefined
          ? withDeletion(before, mine)
          : yield* mergeVersions(writing, settings, before, mine, yield* requireBody(place, found))
      return yield* mergeConflict(writing, from, found, merge)
    }
    for (;;) {
      const begun = from
      const next = yield* attemptWrite(writing, ({ oid }) => oid === begun.oid, begun, ours)
      if (next._tag === "Written") return next.outcome
      const { race } = next
      if (onConflict === "merge" || race.merge === undefined || race.found === undefined)
        return yield* race.error
      const settled = yield* asked(onConflict, place, race.merge)
      if (settled === undefined || !(yield* mayGoOn)) return yield* race.error
      const document = yield* (codec as Codec<A, any>).copy(place, settled)
      from = race.found
      ours = (version) => codec.validate(place, version, withoutMetadata(document))
    }
  })

const isBaseLike = (base: unknown): boolean =>
  typeof base === "string" ||
  (typeof base === "number" && Number.isInteger(base)) ||
  (typeof base === "object" && base !== null && "sha" in base && typeof base.sha === "string")

const judged = (place: DocumentPlace, { base, expectedRev, onConflict }: MergingWriteOptions) => {
  if (base !== undefined && !isBaseLike(base)) {
    const hint = "give the result of version(id)"
    return invalid(place, `base must be a revision, a blob id or a version, it is ${kindOf(base)}`, hint)
  }
  const isKnown = onConflict === undefined || onConflict === "merge" || onConflict === "fail"
  if (!isKnown && typeof onConflict !== "function") {
    return invalid(place, `onConflict must be "fail", "merge" or a function, it is ${kindOf(onConflict)}`)
  }
  return base === undefined || expectedRev === undefined
    ? Effect.void
    : invalid(
        place,
        "base and expectedRev contradict each other",
        "give expectedRev alone to refuse other versions"
      )
}

/** Merges a patch, which is based on an older version, into the stored document. */
export const updateFrom = <A, I>(
  target: MergeTarget<A, I>,
  id: string,
  patch: Partial<I>,
  options: MergingWriteOptions = {}
): Effect.Effect<EditOutcome, WriteError> =>
  Effect.gen(function* () {
    const writing = yield* beginMergeWrite(target, "update", id, options)
    yield* judged(writing.place, options)
    return yield* write(writing, options, (base) =>
      target.codec.merge({ ...writing.place, path: base.path }, base, patch)
    )
  })

/** Merges a document, which is based on an older version, into the stored document. */
export const replaceFrom = <A, I>(
  target: MergeTarget<A, I>,
  id: string,
  document: JsonObject,
  options: MergingWriteOptions = {}
): Effect.Effect<EditOutcome, WriteError> =>
  Effect.gen(function* () {
    const writing = yield* beginMergeWrite(target, "replace", id, options)
    yield* judged(writing.place, options)
    return yield* write(writing, options, () => Effect.succeed(document))
  })

/** Reads the current version of the document. */
const readNow = ({ place, target: { core } }: MergeWrite<any, any>) =>
  Effect.gen(function* () {
    const snapshot = core.snapshot()
    const { settings } = yield* core.settings(snapshot)
    const path = documentPath(core.options.root, settings, place.collection, place.id)
    const file = yield* snapshot.file(path)
    if (Option.isSome(file)) return yield* readVersion(path, file.value)
    return yield* new NotFoundError({
      ...place,
      path,
      message: `${place.path} does not exist`,
      hint: "insert it, or use upsert"
    })
  })

/** Applies a function to a document and writes the result, merged with concurrent changes. */
export const edit = <A, I, E2, R2>(
  target: MergeTarget<A, I>,
  id: string,
  next: (document: A) => I | Effect.Effect<I, E2, R2>,
  options?: EditOptions
): Effect.Effect<EditOutcome, WriteError | E2, R2> =>
  Effect.gen(function* () {
    const given = yield* beginMergeWrite(target, "edit", id, options)
    const { codec, collection } = target
    const { place } = given
    // The function may have counted, so equal changes on both sides count as two changes. On a conflict the function is
    // applied again, and the rules that settle conflicts are not used.
    const rules = { ...given.rules, sameChange: "conflict" as const, settle: undefined }
    const writing = { ...given, rules }
    yield* checkArguments(place.operation, { collection, id })
    const mayGoOn = yield* isBeforeDeadline(writing)
    let from = yield* readNow(writing)
    for (;;) {
      const begun = from
      const document = yield* codec.read({ ...place, path: begun.path }, begun.content)
      const applied = yield* Effect.try({
        try: () => next(document),
        catch: (cause) => invalid(place, `the function threw: ${String(cause)}`, undefined, cause)
      })
      const result = Effect.isEffect(applied) ? yield* applied : applied
      const encoded = yield* codec.encode(place, yield* codec.copy(place, result))
      const attempted = yield* attemptWrite(
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
