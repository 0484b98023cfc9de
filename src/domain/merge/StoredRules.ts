/** The rules that are one word. */
export const ruleWords: ReadonlyArray<string> = ["whole", "set", "sequence", "lines", "counter"]

const parts: { readonly [name: string]: (value: unknown, depth: number) => boolean } = {
  key: (value) => typeof value === "string" && value !== "",
  sequence: (value) => value === "conflict" || value === "byContent",
  fields: (value, depth) => areStoredRules(value, depth)
}

const isRule = (rule: unknown, depth: number): boolean => {
  if (typeof rule === "string") return ruleWords.includes(rule)
  if (typeof rule !== "object" || rule === null) return false
  // JSON has no member that is undefined.
  const given = Object.entries(rule).filter(([, value]) => value !== undefined)
  return (
    given.length > 0 &&
    given.every(([name, value]) => Object.hasOwn(parts, name) && parts[name]!(value, depth))
  )
}

/**
 * Whether a value holds rules of merging by path that are data, so that they can be stored. It says no more than that,
 * since every page reads settings: `mergeRulesProblem` tells a program what is wrong with its rules.
 */
export const areStoredRules = (fields: unknown, depth = 0): boolean =>
  typeof fields === "object" &&
  fields !== null &&
  !Array.isArray(fields) &&
  // Rules that contain themselves are no data.
  depth < 100 &&
  Object.values(fields).every((rule) => isRule(rule, depth + 1))
