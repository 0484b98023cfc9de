import type * as Option from "effect/Option"
import type { Json, JsonObject } from "../json/Json.js"
import { nearest } from "../text/NearestName.js"
import { kindOf } from "../text/ValueKind.js"
import { ruleWords } from "./StoredRules.js"

/**
 * The three versions of one value in a document. A version without the value is absent.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergeSides {
  /** The value of the base; absent if there is none. */
  readonly base?: Json
  /** Our value; absent if we deleted it. */
  readonly ours?: Json
  /** Their value; absent if they deleted it. */
  readonly theirs?: Json
}

/**
 * A conflict: both sides changed the same place of the document. `path` consists of the names of members and, in a list
 * that is merged by key, of the keys of items.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergeConflict extends MergeSides {
  /** The path in the document. */
  readonly path: ReadonlyArray<string | number>
}

/**
 * Merges a value that both sides changed. None is a conflict, and undefined removes the value. The result should not
 * depend on which side is called ours, so that everybody who merges gets the same document.
 *
 * @since 0.1.0
 * @category models
 */
export type Merger = (sides: MergeSides) => Option.Option<Json | undefined>

/**
 * Rules by path: the name of a member, or names separated by dots. `*` is the rule of every member without its own
 * rule.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergeFields {
  readonly [path: string]: MergeRule
}

/**
 * The rule for merging a value that both sides changed. Without a rule, objects are merged by their members, and other
 * values as a whole: two different changes are a conflict. A rule is ignored if the value is of another kind.
 *
 * - `"whole"`: two different changes are a conflict, in objects too.
 * - `"set"`: a list whose order has no meaning; items that either side added are in it, items that either side removed are not.
 * - `"sequence"`: a list in order. Two different insertions at one place are a conflict; with
 *   `{ sequence: "byContent" }` both are kept, in the order of their content.
 * - `{ key: "id" }`: a list of objects that are identified by a member; objects with the same key are merged. Items that both
 *   sides add at one place are ordered by their keys. `fields` has rules for the members of the items.
 * - `{ fields: { ... } }`: an object with rules for its members.
 * - `"lines"`: a text, merged by lines.
 * - `"counter"`: a number, to which each side has added something.
 * - a function: see `Merger`.
 *
 * @since 0.1.0
 * @category models
 */
export type MergeRule =
  | "whole"
  | "set"
  | "sequence"
  | "lines"
  | "counter"
  | { readonly sequence: "conflict" | "byContent" }
  | { readonly key: string; readonly fields?: MergeFields | undefined }
  | { readonly fields: MergeFields }
  | Merger

/**
 * The resolution of a conflict: one side's value, or another value (undefined removes the member).
 *
 * @since 0.1.0
 * @category models
 */
export type Settlement = "ours" | "theirs" | { readonly value: Json | undefined }

/**
 * The rules for merging documents.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergeRules {
  /** Rules for members of the document. */
  readonly fields?: MergeFields | undefined
  /** Merges the whole document without its metadata. It replaces the rules for members. */
  readonly document?: Merger | undefined
  /**
   * Whether two equal changes of the same place count as one change (the default) or as a conflict. If two writers each
   * add 1 to a number that is not a counter, one of the additions is lost. Two removals of a value are never a conflict.
   */
  readonly sameChange?: "once" | "conflict" | undefined
  /** Resolves a conflict. Undefined leaves it unresolved. */
  readonly settle?: ((conflict: MergeConflict) => Settlement | undefined) | undefined
}

/**
 * The merge of a write with a concurrent change, of documents without their metadata.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentMerge {
  /** The version on which the write is based. */
  readonly base: JsonObject
  /** The caller's version. */
  readonly ours: JsonObject
  /** The stored version; absent if it was deleted. */
  readonly theirs?: JsonObject
  /** The merged document, with our values at the conflicts. */
  readonly document: JsonObject
  /** The changes of both sides that no rule merges. */
  readonly conflicts: ReadonlyArray<MergeConflict>
}

/** The rule of a value, and the rules of nested values by their remaining paths. */
export interface RuleNode {
  readonly rule: MergeRule | undefined
  readonly below: ReadonlyArray<readonly [path: string, rule: MergeRule]>
}

const fieldsOf = (rule: MergeRule | undefined): MergeFields | undefined =>
  typeof rule === "object" && "fields" in rule ? rule.fields : undefined

/** The node of a rule. */
export const nodeOf = (rule: MergeRule | undefined): RuleNode => ({
  rule,
  below: Object.entries(fieldsOf(rule) ?? {})
})

const named = (node: RuleNode, name: string): RuleNode | undefined => {
  const own = node.below.find(([path]) => path === name)
  const inside = node.below.flatMap(([path, rule]) =>
    path.startsWith(`${name}.`) ? [[path.slice(name.length + 1), rule] as const] : []
  )
  if (own === undefined && inside.length === 0) return undefined
  const { rule, below } = nodeOf(own?.[1])
  return { rule, below: [...inside, ...below] }
}

const without: RuleNode = { rule: undefined, below: [] }

/** The node of an object's member. */
export const memberOf = (node: RuleNode, name: string): RuleNode =>
  node.below.length === 0 ? without : (named(node, name) ?? named(node, "*") ?? without)

/** The node of the items of a list that is merged by key. */
export const itemOf = ({ below }: RuleNode): RuleNode => ({ rule: undefined, below })

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const unknownName = (name: string, known: ReadonlyArray<string>): string => {
  const meant = nearest(name, known)
  return meant === undefined ? `; it is one of ${known.join(", ")}` : `: did you mean ${meant}?`
}

const fieldsProblem = (fields: unknown, path: string, seen: Set<unknown>): string | undefined => {
  if (!isRecord(fields)) return `${path} must be an object of rules, it is ${kindOf(fields)}`
  // The rules of a recursive schema contain themselves.
  if (seen.has(fields)) return undefined
  seen.add(fields)
  for (const [name, rule] of Object.entries(fields)) {
    const problem = ruleProblem(rule, `${path}[${JSON.stringify(name)}]`, seen)
    if (problem !== undefined) return problem
  }
  return undefined
}

const ruleProblem = (rule: unknown, path: string, seen: Set<unknown>): string | undefined => {
  if (typeof rule === "function") return undefined
  if (typeof rule === "string") {
    return ruleWords.includes(rule)
      ? undefined
      : `${path}: ${JSON.stringify(rule)} is not a rule${unknownName(rule, ruleWords)}`
  }
  if (!isRecord(rule)) return `${path} must be a rule of merging, it is ${kindOf(rule)}`
  const members = ["key", "fields", "sequence"]
  const stranger = Object.keys(rule).find((name) => !members.includes(name))
  if (stranger !== undefined)
    return `${path}.${stranger} is not part of a rule${unknownName(stranger, members)}`
  const { fields, key, sequence } = rule
  if (sequence !== undefined && sequence !== "conflict" && sequence !== "byContent") {
    return `${path}.sequence must be "conflict" or "byContent"`
  }
  if (key !== undefined && (typeof key !== "string" || key === "")) {
    return `${path}.key must be the name of a member, it is ${key === "" ? "empty" : kindOf(key)}`
  }
  if (fields !== undefined) return fieldsProblem(fields, `${path}.fields`, seen)
  return key === undefined && sequence === undefined
    ? `${path} must have a key, fields or a sequence`
    : undefined
}

/** The problem with merge rules, if any. */
export const mergeRulesProblem = (rules: unknown): string | undefined => {
  if (!isRecord(rules)) return `must be an object of rules, it is ${kindOf(rules)}`
  const members = ["fields", "document", "sameChange", "settle"]
  const stranger = Object.keys(rules).find((name) => !members.includes(name))
  if (stranger !== undefined) return `${stranger} is not part of the rules${unknownName(stranger, members)}`
  for (const name of ["document", "settle"]) {
    if (rules[name] !== undefined && typeof rules[name] !== "function") return `${name} must be a function`
  }
  if (rules.sameChange !== undefined && rules.sameChange !== "once" && rules.sameChange !== "conflict") {
    return `sameChange must be "once" or "conflict"`
  }
  return rules.fields === undefined ? undefined : fieldsProblem(rules.fields, "fields", new Set())
}
