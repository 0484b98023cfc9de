const words: ReadonlyArray<unknown> = ["whole", "set", "sequence", "lines", "counter"]

const parts: { readonly [name: string]: (value: unknown, depth: number) => boolean } = {
  key: (value) => typeof value === "string" && value !== "",
  sequence: (value) => value === "conflict" || value === "byContent",
  fields: (value, depth) => areStoredRules(value, depth)
}

const isRule = (rule: unknown, depth: number): boolean =>
  typeof rule === "object" && rule !== null
    ? Object.keys(rule).length > 0 &&
      Object.entries(rule).every(([name, value]) => Object.hasOwn(parts, name) && parts[name]!(value, depth))
    : words.includes(rule)

/**
 * Whether a value holds rules of merging by path that are data, so that they can be stored: small, since every page reads
 * settings. What is wrong with rules that a program gives is told by `mergeRulesProblem`.
 */
export const areStoredRules = (fields: unknown, depth = 0): boolean =>
  typeof fields === "object" &&
  fields !== null &&
  !Array.isArray(fields) &&
  depth < 100 &&
  Object.values(fields).every((rule) => isRule(rule, depth + 1))
