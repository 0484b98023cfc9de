import * as Option from "effect/Option"
import * as Steps from "../concurrency/Steps.js"
import type { JsonObject } from "../json/Json.js"
import { setMember } from "../json/JsonCopy.js"
import { type LosslessJson, type LosslessObject, toJsonSteps } from "../json/LosslessJson.js"
import { kindOf } from "../text/ValueKind.js"
import { containsMark, isMark } from "./ConflictMark.js"
import { sumOfChanges } from "./Counter.js"
import {
  bySpelling,
  byValue,
  eitherOf,
  isList,
  isNumber,
  isObject,
  namesIn,
  type Optional,
  own,
  type SpelledList
} from "./JsonIdentity.js"
import { mergeKeyed, mergeSet } from "./ListMerge.js"
import {
  itemOf,
  type MergeConflict,
  type MergeRules,
  type MergeSides,
  memberOf,
  nodeOf,
  type RuleNode
} from "./MergeRules.js"
import { mergeMetadata } from "./Metadata.js"
import { mergedIn, settlementIn } from "./RuleResults.js"
import { mergeLines, mergeSequence } from "./SequenceMerge.js"

/**
 * The three versions of a document for a merge: the base, ours and theirs. The base is undefined if both sides inserted
 * the document.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentSides<D = JsonObject> {
  /** The common base; undefined if there is none. */
  readonly base: D | undefined
  /** Our document. */
  readonly ours: D
  /** Their document. */
  readonly theirs: D
}

/**
 * The merged document and the conflicts. At a conflict the document has our value. Every change of either side is in the
 * document or in a conflict.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergedDocument<D = JsonObject> {
  /** The merged document, with our values at the conflicts. */
  readonly document: D
  /** The changes of both sides that no rule merges; empty if the merge is complete. */
  readonly conflicts: ReadonlyArray<MergeConflict>
}

type Path = ReadonlyArray<string | number>

interface Versions {
  readonly base: Optional
  readonly ours: Optional
  readonly theirs: Optional
}

const valuesOf = ({ base, ours, theirs }: Versions): ReadonlyArray<Optional> => [base, ours, theirs]

/** The values of three versions as JavaScript numbers and texts, without absent ones. */
function* sidesOf({ base, ours, theirs }: Versions): Steps.Steps<MergeSides> {
  return {
    ...(base === undefined || containsMark(base) ? {} : { base: yield* toJsonSteps(base) }),
    ...(ours === undefined ? {} : { ours: yield* toJsonSteps(ours) }),
    ...(theirs === undefined ? {} : { theirs: yield* toJsonSteps(theirs) })
  }
}

class Merging {
  readonly conflicts: Array<MergeConflict> = []
  private readonly spelling = bySpelling()
  private readonly values = byValue()

  constructor(readonly rules: MergeRules) {}

  private get isOnce(): boolean {
    return this.rules.sameChange !== "conflict"
  }

  isSpelledAlike(a: Optional, b: Optional): Steps.Steps<boolean> {
    return this.spelling.isSame(a, b)
  }

  private *conflict(path: Path, versions: Versions): Steps.Steps<Optional> {
    const found = { path, ...(yield* sidesOf(versions)) }
    const { settle } = this.rules
    const settled =
      settle === undefined ? undefined : yield* settlementIn(settle(found), path, valuesOf(versions))
    if (typeof settled === "object") return settled.value
    if (settled === undefined) this.conflicts.push(found)
    return settled === "theirs" ? versions.theirs : versions.ours
  }

  *value(path: Path, node: RuleNode, versions: Versions): Steps.Steps<Optional> {
    const { base, ours, theirs } = versions
    if (yield* this.isSpelledAlike(base, ours)) return theirs
    if (yield* this.isSpelledAlike(base, theirs)) return ours
    const { rule } = node
    if (typeof rule === "function") {
      const merged = yield* mergedIn(rule(yield* sidesOf(versions)), path, valuesOf(versions))
      return Option.isSome(merged) ? merged.value : yield* this.conflict(path, versions)
    }
    if (ours === undefined && theirs === undefined) return undefined
    if (isMark(base)) return yield* this.whole(path, versions)
    const start = base === undefined ? 0 : base
    if (rule === "counter" && isNumber(start) && isNumber(ours) && isNumber(theirs)) {
      return sumOfChanges(start, ours, theirs) ?? (yield* this.conflict(path, versions))
    }
    // Rules for nested values (counters) apply even if both sides have equal objects.
    if (this.isOnce && node.below.length === 0 && (yield* this.isSpelledAlike(ours, theirs))) return ours
    if (rule !== "whole" && (base === undefined || isObject(base)) && isObject(ours) && isObject(theirs)) {
      return yield* this.object(path, node, { base, ours, theirs })
    }
    if ((base === undefined || isList(base)) && isList(ours) && isList(theirs)) {
      return yield* this.list(path, node, { base, ours, theirs })
    }
    if (
      rule === "lines" &&
      typeof base === "string" &&
      typeof ours === "string" &&
      typeof theirs === "string"
    ) {
      return (yield* mergeLines(base, ours, theirs, this.isOnce)) ?? (yield* this.conflict(path, versions))
    }
    return yield* this.whole(path, versions)
  }

  /** Merges a value as a whole. A side that changed only the spelling of numbers has not changed the value. */
  private *whole(path: Path, versions: Versions): Steps.Steps<Optional> {
    const { base, ours, theirs } = versions
    if (yield* this.values.isSame(base, ours)) return theirs
    if (yield* this.values.isSame(base, theirs)) return ours
    const isOneChange = this.isOnce && (yield* this.values.isSame(ours, theirs))
    return isOneChange ? yield* eitherOf(ours!, theirs!) : yield* this.conflict(path, versions)
  }

  *object(
    path: Path,
    node: RuleNode,
    sides: DocumentSides<LosslessObject>,
    settled: ReadonlyMap<string, LosslessJson> = new Map()
  ): Steps.Steps<LosslessObject> {
    const { base, ours, theirs } = sides
    const object: { [name: string]: LosslessJson } = {}
    let visited = 0
    for (const name of yield* namesIn(base, ours, theirs)) {
      if (++visited % Steps.stepSize === 0) yield
      const versions = { base: own(base, name), ours: own(ours, name), theirs: own(theirs, name) }
      const value = settled.get(name) ?? (yield* this.value([...path, name], memberOf(node, name), versions))
      if (value !== undefined) setMember(object, name, value)
    }
    return object
  }

  private *list(path: Path, node: RuleNode, sides: DocumentSides<SpelledList>): Steps.Steps<Optional> {
    const { rule } = node
    const { base = [], ours, theirs } = sides
    if (rule === "set") {
      const pick = (base: Optional, ours: Optional, theirs: Optional) =>
        this.value(path, nodeOf("whole"), { base, ours, theirs })
      return yield* mergeSet(base, ours, theirs, pick)
    }
    if (rule === "sequence" || (typeof rule === "object" && "sequence" in rule)) {
      const byContent = rule !== "sequence" && rule.sequence === "byContent"
      return (
        (yield* mergeSequence({ base, ours, theirs }, byContent, this.isOnce)) ??
        (yield* this.conflict(path, sides))
      )
    }
    if (typeof rule !== "object" || !("key" in rule)) return yield* this.whole(path, sides)
    const merged = yield* mergeKeyed({ base, ours, theirs }, rule.key, (key, base, ours, theirs) =>
      this.value([...path, key], itemOf(node), { base, ours, theirs })
    )
    if (merged === undefined) return yield* this.whole(path, sides)
    const { ours: inOurOrder, theirs: inTheirOrder } = merged
    return inTheirOrder === undefined
      ? inOurOrder
      : yield* this.conflict(path, { base, ours: inOurOrder, theirs: inTheirOrder })
  }

  *document(sides: DocumentSides<LosslessObject>): Steps.Steps<LosslessObject> {
    const metadata = mergeMetadata(sides.ours, sides.theirs)
    const node = nodeOf({ fields: this.rules.fields ?? {} })
    const merger = this.rules.document
    if (merger === undefined) return yield* this.object([], node, sides, metadata)
    const isBody = (name: string) => !metadata.has(name) && name !== "_id"
    const part = (object: LosslessObject | undefined, isWanted: (name: string) => boolean) =>
      object && Object.fromEntries(Object.entries(object).filter(([name]) => isWanted(name)))
    const parts = (isWanted: (name: string) => boolean) => ({
      base: part(sides.base, isWanted),
      ours: part(sides.ours, isWanted)!,
      theirs: part(sides.theirs, isWanted)!
    })
    const body = yield* this.value([], nodeOf(merger), parts(isBody))
    const head = yield* this.object(
      [],
      nodeOf(undefined),
      parts((name) => !isBody(name)),
      metadata
    )
    if (!isObject(body))
      throw new Error(
        `the rule for the document returned ${kindOf(body)}: it must return an object in Option.some`
      )
    return Object.fromEntries([...Object.entries(body), ...Object.entries(head)])
  }
}

/**
 * Merges two versions of a document by the members of its objects and by the given rules. The result does not depend on
 * which side is called ours, except at a conflict, where the document has our value. `_rev` becomes the greater of the two plus 1, `_updated_at` the later, `_created_at` the earlier; a
 * document that only one side changed stays as that side has it.
 *
 * @example
 * ```ts
 * mergeDocuments(
 *   {
 *     base: { name: "Pen", tags: ["blue"], stock: 5 },
 *     ours: { name: "Pencil", tags: ["blue", "new"], stock: 4 },
 *     theirs: { name: "Pen", tags: [], stock: 3 }
 *   },
 *   { fields: { tags: "set", stock: "counter" } }
 * )
 * // { document: { name: "Pencil", tags: ["new"], stock: 2 }, conflicts: [] }
 * ```
 *
 * @since 0.1.0
 * @category merging
 */
export const mergeDocuments = (sides: DocumentSides, rules?: MergeRules): MergedDocument =>
  Steps.runSync(merging(sides, rules))

/** Like `mergeDocuments`, in steps. */
export function* merging(sides: DocumentSides, rules?: MergeRules): Steps.Steps<MergedDocument> {
  const { conflicts, document } = yield* mergingExact(sides, rules)
  return { document: (yield* toJsonSteps(document)) as JsonObject, conflicts }
}

/** Like `merging`, with the numbers that JavaScript cannot represent, in the versions and in the sums of counters. */
export function* mergingExact(
  sides: DocumentSides<LosslessObject>,
  rules: MergeRules = {}
): Steps.Steps<MergedDocument<LosslessObject>> {
  const { ours, theirs } = sides
  const base = isMark(sides.base) ? undefined : sides.base
  const merge = new Merging(rules)
  const isOneVersion = Object.hasOwn(ours, "_rev") && (yield* merge.isSpelledAlike(ours, theirs))
  if (isOneVersion || (yield* merge.isSpelledAlike(base, theirs))) return { document: ours, conflicts: [] }
  if (yield* merge.isSpelledAlike(base, ours)) return { document: theirs, conflicts: [] }
  return { document: yield* merge.document({ base, ours, theirs }), conflicts: merge.conflicts }
}
