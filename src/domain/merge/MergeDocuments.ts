import * as Option from "effect/Option"
import type { JsonObject } from "../Document.js"
import { kindOf } from "../OptionProblems.js"
import { asRead, type SpelledJson, type SpelledObject } from "../SpelledJson.js"
import { containsMark, isMark } from "./ConflictMark.js"
import { sumOfChanges } from "./Counter.js"
import {
  eitherOf,
  isEqual,
  isList,
  isNumber,
  isObject,
  isSpelledAlike,
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
 * A document in three versions: the one that both sides began with, none if each side made the document itself, and
 * what each side made of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentSides<D = JsonObject> {
  /** The document that both sides began with; undefined where there was none. */
  readonly base: D | undefined
  /** Our document. */
  readonly ours: D
  /** Their document. */
  readonly theirs: D
}

/**
 * The merged document, and everything that could not be merged. The document has our values where there is a
 * conflict: every change of either side is in the document or in a conflict.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergedDocument<D = JsonObject> {
  /** Everything merged that could be, with our values at the conflicts. */
  readonly document: D
  /** Where both sides changed something and no rule merges it; empty where the merge is complete. */
  readonly conflicts: ReadonlyArray<MergeConflict>
}

type Path = ReadonlyArray<string | number>

interface Versions {
  readonly base: Optional
  readonly ours: Optional
  readonly theirs: Optional
}

/** The values of three versions, without those that are absent, as JavaScript reads them. */
const sidesOf = ({ base, ours, theirs }: Versions): MergeSides => ({
  ...(base === undefined || containsMark(base) ? {} : { base: asRead(base) }),
  ...(ours === undefined ? {} : { ours: asRead(ours) }),
  ...(theirs === undefined ? {} : { theirs: asRead(theirs) })
})

class Merging {
  readonly conflicts: Array<MergeConflict> = []

  constructor(readonly rules: MergeRules) {}

  private get isOnce(): boolean {
    return this.rules.sameChange !== "conflict"
  }

  private conflict(path: Path, versions: Versions): Optional {
    const found = { path, ...sidesOf(versions) }
    const settled = this.rules.settle === undefined ? undefined : settlementIn(this.rules.settle(found), path)
    if (typeof settled === "object") return settled.value
    if (settled === undefined) this.conflicts.push(found)
    return settled === "theirs" ? versions.theirs : versions.ours
  }

  value(path: Path, node: RuleNode, versions: Versions): Optional {
    const { base, ours, theirs } = versions
    if (isSpelledAlike(base, ours)) return theirs
    if (isSpelledAlike(base, theirs)) return ours
    const { rule } = node
    if (typeof rule === "function") {
      const merged = mergedIn(rule(sidesOf(versions)), path)
      return Option.getOrElse(merged, () => this.conflict(path, versions))
    }
    if (isMark(base)) return this.whole(path, versions)
    const start = base === undefined ? 0 : base
    if (rule === "counter" && isNumber(start) && isNumber(ours) && isNumber(theirs)) {
      return sumOfChanges(start, ours, theirs) ?? this.conflict(path, versions)
    }
    if (ours === undefined || theirs === undefined) {
      return ours === theirs ? undefined : this.whole(path, versions)
    }
    // What is counted inside was counted twice, however equal the objects around it are.
    if (this.isOnce && node.below.length === 0 && isSpelledAlike(ours, theirs)) return ours
    if (rule !== "whole" && (base === undefined || isObject(base)) && isObject(ours) && isObject(theirs)) {
      return this.object(path, node, { base, ours, theirs })
    }
    if ((base === undefined || isList(base)) && isList(ours) && isList(theirs)) {
      return this.list(path, node, { base, ours, theirs })
    }
    if (rule === "lines" && [base, ours, theirs].every((value) => typeof value === "string")) {
      return (
        mergeLines(base as string, ours as string, theirs as string, this.isOnce) ??
        this.conflict(path, versions)
      )
    }
    return this.whole(path, versions)
  }

  /** A value of which one side's change holds; a side that only spelled a number otherwise has not changed it. */
  private whole(path: Path, versions: Versions): Optional {
    const { base, ours, theirs } = versions
    if (isEqual(base, ours)) return theirs
    if (isEqual(base, theirs)) return ours
    const isSame = ours !== undefined && theirs !== undefined && isEqual(ours, theirs)
    return isSame && this.isOnce ? eitherOf(ours, theirs) : this.conflict(path, versions)
  }

  object(
    path: Path,
    node: RuleNode,
    sides: DocumentSides<SpelledObject>,
    settled: ReadonlyMap<string, SpelledJson> = new Map()
  ): SpelledObject {
    const { base, ours, theirs } = sides
    const members: Array<readonly [string, SpelledJson]> = []
    for (const name of namesIn(base, ours, theirs)) {
      const versions = { base: own(base, name), ours: own(ours, name), theirs: own(theirs, name) }
      const value = settled.get(name) ?? this.value([...path, name], memberOf(node, name), versions)
      if (value !== undefined) members.push([name, value])
    }
    return Object.fromEntries(members)
  }

  private list(path: Path, node: RuleNode, sides: DocumentSides<SpelledList>): Optional {
    const { rule } = node
    const { base = [], ours, theirs } = sides
    if (rule === "set") {
      const pick = (base: Optional, ours: Optional, theirs: Optional) =>
        this.value(path, nodeOf("whole"), { base, ours, theirs })
      return mergeSet(base, ours, theirs, pick)
    }
    if (rule === "sequence" || (typeof rule === "object" && "sequence" in rule)) {
      const byContent = rule !== "sequence" && rule.sequence === "byContent"
      return mergeSequence({ base, ours, theirs }, byContent, this.isOnce) ?? this.conflict(path, sides)
    }
    if (typeof rule !== "object" || !("key" in rule)) return this.whole(path, sides)
    const merged = mergeKeyed({ base, ours, theirs }, rule.key, (key, base, ours, theirs) =>
      this.value([...path, key], itemOf(node), { base, ours, theirs })
    )
    if (merged === undefined) return this.whole(path, sides)
    const { ours: inOurOrder, theirs: inTheirOrder } = merged
    return inTheirOrder === undefined
      ? inOurOrder
      : this.conflict(path, { base, ours: inOurOrder, theirs: inTheirOrder })
  }

  document(sides: DocumentSides<SpelledObject>): SpelledObject {
    const metadata = mergeMetadata(sides.ours, sides.theirs)
    const node = nodeOf({ fields: this.rules.fields ?? {} })
    const merger = this.rules.document
    if (merger === undefined) return this.object([], node, sides, metadata)
    const isBody = (name: string) => !metadata.has(name) && name !== "_id"
    const part = (object: SpelledObject | undefined, isWanted: (name: string) => boolean) =>
      object && Object.fromEntries(Object.entries(object).filter(([name]) => isWanted(name)))
    const parts = (isWanted: (name: string) => boolean) => ({
      base: part(sides.base, isWanted),
      ours: part(sides.ours, isWanted)!,
      theirs: part(sides.theirs, isWanted)!
    })
    const body = this.value([], nodeOf(merger), parts(isBody))
    const head = this.object(
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
 * Merges two versions of a document that began as one, by the members of its objects and by the rules that are given
 * for them. The result is the same whichever side is called ours, but where there is a conflict: there the document
 * has our value. `_rev` becomes the greater of the two plus 1, `_updated_at` the later, `_created_at` the earlier; a
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
export function mergeDocuments(sides: DocumentSides, rules?: MergeRules): MergedDocument
export function mergeDocuments(
  sides: DocumentSides<SpelledObject>,
  rules?: MergeRules
): MergedDocument<SpelledObject>
export function mergeDocuments(
  sides: DocumentSides<SpelledObject>,
  rules: MergeRules = {}
): MergedDocument<SpelledObject> {
  const { ours, theirs } = sides
  const base = isMark(sides.base) ? undefined : sides.base
  const isOneVersion = Object.hasOwn(ours, "_rev") && isSpelledAlike(ours, theirs)
  if (isSpelledAlike(base, theirs) || isOneVersion) return { document: ours, conflicts: [] }
  if (isSpelledAlike(base, ours)) return { document: theirs, conflicts: [] }
  const merging = new Merging(rules)
  return { document: merging.document({ base, ours, theirs }), conflicts: merging.conflicts }
}
