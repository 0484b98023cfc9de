import type { MergeFields, MergeRule, MergeRules } from "../../../domain/merge/MergeRules.js"

type Node = { readonly [name: string]: MergeRule }

/** Rewrites rules without dots in their names: a rule of `a.b` becomes the rule of member `b` in the rules of `a`. */
const nested = (fields: MergeFields): Node => {
  let all: Node = {}
  for (const [path, rule] of Object.entries(fields)) {
    const [name = "", ...below] = path.split(".")
    const one: Node = { [name]: below.length === 0 ? rule : { fields: { [below.join(".")]: rule } } }
    all = combined(one, all)
  }
  return all
}

const hasFields = (rule: MergeRule | undefined): rule is Extract<MergeRule, { readonly fields?: unknown }> =>
  typeof rule === "object" && ("fields" in rule || "key" in rule)

/** Combines the rules of two levels; the nearer one takes precedence. */
const ruleOf = (nearer: MergeRule, farther: MergeRule | undefined): MergeRule => {
  if (!hasFields(nearer) || !hasFields(farther)) return nearer
  if ("key" in nearer && "key" in farther && nearer.key !== farther.key) return nearer
  return { ...farther, ...nearer, fields: combined(nested(nearer.fields ?? {}), farther.fields ?? {}) }
}

/** Visits only the members that the nearer level names, because a recursive schema has no end. */
const combined = (nearer: Node, farther: MergeFields): Node => {
  if (Object.keys(nearer).length === 0) return farther
  const below = Object.keys(farther).some((path) => path.includes(".")) ? nested(farther) : farther
  return {
    ...below,
    ...Object.fromEntries(
      Object.entries(nearer).map(([name, rule]) => [
        name,
        ruleOf(rule, Object.hasOwn(below, name) ? below[name] : undefined)
      ])
    )
  }
}

/** Combines the rules of several levels in order of precedence: call, definition, schema. */
export const rulesOfLevels = (...levels: ReadonlyArray<MergeRules | undefined>): MergeRules => {
  let rules: MergeRules = {}
  for (const level of [...levels].reverse()) {
    if (level !== undefined)
      rules = { ...rules, ...level, fields: combined(nested(level.fields ?? {}), rules.fields ?? {}) }
  }
  return rules
}
