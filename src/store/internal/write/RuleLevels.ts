import type { MergeFields, MergeRule, MergeRules } from "../../../domain/merge/MergeRules.js"

type Node = { readonly [name: string]: MergeRule }

/** Rules without dots in their names: a rule of `a.b` is one of the member `b` among the rules of `a`. */
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

/** The rule of one level, with what the farther one says of members that it is silent about. */
const ruleOf = (nearer: MergeRule, farther: MergeRule | undefined): MergeRule => {
  if (!hasFields(nearer) || !hasFields(farther)) return nearer
  if ("key" in nearer && "key" in farther && nearer.key !== farther.key) return nearer
  return { ...farther, ...nearer, fields: combined(nested(nearer.fields ?? {}), farther.fields ?? {}) }
}

/** Of the farther level only the members that the nearer one names are looked at: a recursive schema has no end. */
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

/** The rules of several levels, of which the nearer goes first: call, definition, schema. */
export const rulesOfLevels = (...levels: ReadonlyArray<MergeRules | undefined>): MergeRules => {
  let rules: MergeRules = {}
  for (const level of [...levels].reverse()) {
    if (level !== undefined)
      rules = { ...rules, ...level, fields: combined(nested(level.fields ?? {}), rules.fields ?? {}) }
  }
  return rules
}
