/** The rules that are a single word. */
export const ruleWords: ReadonlyArray<string> = ["whole", "set", "sequence", "lines", "counter"]

const parts: { readonly [name: string]: (value: unknown, depth: number) => boolean } = {
  key: (value) => typeof value === "string" && value !== "",
  sequence: (value) => value === "conflict" || value === "byContent",
  fields: (value, depth) => areStoredRules(value, depth)
}

const isRule = (rule: unknown, depth: number): boolean => {
  if (typeof rule === "string") return ruleWords.includes(rule)
  if (typeof rule !== "object" || rule === null) return false
  // JSON has no undefined members.
  const given = Object.entries(rule).filter(([, value]) => value !== undefined)
  return (
    given.length > 0 &&
    given.every(([name, value]) => Object.hasOwn(parts, name) && parts[name]!(value, depth))
  )
}

/**
 * Whether a value contains merge rules without functions, which can be stored. It reports no reason, because every page
 * loads this module; `mergeRulesProblem` reports the problem.
 */
export const areStoredRules = (fields: unknown, depth = 0): boolean =>
  typeof fields === "object" &&
  fields !== null &&
  !Array.isArray(fields) &&
  // Rules that contain themselves cannot be stored.
  depth < 100 &&
  Object.values(fields).every((rule) => isRule(rule, depth + 1))
