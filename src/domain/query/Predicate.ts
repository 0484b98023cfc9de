import type { Json } from "../json/Json.js"

/** A test of one value. */
export type Test =
  | { readonly operator: "is"; readonly value: Json }
  | { readonly operator: "in"; readonly value: ReadonlyArray<Json> }
  | {
      readonly operator: "lessThan" | "atMost" | "greaterThan" | "atLeast"
      readonly value: number | string
    }
  | { readonly operator: "startsWith"; readonly value: string }

/**
 * A condition of a field: the value at the path, or one element of a list there, satisfies every test. With `whole` the
 * path is the name of a member, also if it contains dots.
 */
export interface FieldPredicate {
  readonly _tag: "Field"
  readonly path: string
  readonly tests: ReadonlyArray<Test>
  readonly whole?: true
}

/** A validated condition. */
export type Predicate =
  | FieldPredicate
  | { readonly _tag: "Exists"; readonly path: string }
  | { readonly _tag: "And"; readonly all: ReadonlyArray<Predicate> }
  | { readonly _tag: "Or"; readonly any: ReadonlyArray<Predicate> }
  | { readonly _tag: "Not"; readonly not: Predicate }

/** The parts of a conjunction. */
export const conjuncts = (predicate: Predicate): ReadonlyArray<Predicate> =>
  predicate._tag === "And" ? predicate.all : [predicate]

/** The predicate that every document satisfies. */
export const always: Predicate = { _tag: "And", all: [] }

/** Whether a predicate is the empty conjunction, which every document satisfies. */
export const isAlways = (predicate: Predicate): boolean =>
  predicate._tag === "And" && predicate.all.length === 0

const byText = (predicates: ReadonlyArray<Predicate>): ReadonlyArray<Predicate> => {
  const sorted = predicates.map((one) => [JSON.stringify(one), one] as const)
  sorted.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted.filter(([text], at) => text !== sorted[at - 1]?.[0]).map(([, one]) => one)
}

/** The conjunction of predicates in normal form: the order of the parts makes no difference. */
export const allOf = (predicates: ReadonlyArray<Predicate>): Predicate => {
  const all = byText(predicates.flatMap(conjuncts))
  return all.length === 1 ? all[0]! : { _tag: "And", all }
}

/** The values of a condition that is a single `is` or `in`. */
const valuesOf = (predicate: Predicate): ReadonlyArray<Json> | undefined => {
  if (predicate._tag !== "Field") return undefined
  const [test, ...more] = predicate.tests
  if (test === undefined || more.length > 0) return undefined
  if (test.operator === "is") return [test.value]
  return test.operator === "in" ? test.value : undefined
}

/** Joins the equalities of one field to an `in` condition, for which an index can be used. */
const joined = (any: ReadonlyArray<Predicate>): ReadonlyArray<Predicate> => {
  const values = new Map<string, Array<Json>>()
  const rest: Array<Predicate> = []
  for (const one of any) {
    const own = valuesOf(one)
    if (one._tag !== "Field" || one.whole || own === undefined) rest.push(one)
    else values.set(one.path, [...(values.get(one.path) ?? []), ...own])
  }
  for (const [path, all] of values) {
    const value = [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]
    const test: Test = value.length === 1 ? { operator: "is", value: value[0]! } : { operator: "in", value }
    rest.push({ _tag: "Field", path, tests: [test] })
  }
  return rest
}

/** The disjunction of predicates in normal form. */
export const anyOf = (predicates: ReadonlyArray<Predicate>): Predicate => {
  const any = byText(joined(predicates.flatMap((one) => (one._tag === "Or" ? one.any : [one]))))
  return any.length === 1 ? any[0]! : { _tag: "Or", any }
}

/** The negation of a predicate. */
export const opposite = (predicate: Predicate): Predicate =>
  predicate._tag === "Not" ? predicate.not : { _tag: "Not", not: predicate }

/** The paths that a predicate reads. */
export const pathsIn = (predicate: Predicate): ReadonlySet<string> => {
  const paths = new Set<string>()
  const visit = (one: Predicate): void => {
    if (one._tag === "And") one.all.forEach(visit)
    else if (one._tag === "Or") one.any.forEach(visit)
    else if (one._tag === "Not") visit(one.not)
    else paths.add(one.path)
  }
  visit(predicate)
  return paths
}
