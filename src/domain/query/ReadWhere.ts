import * as Either from "effect/Either"
import { encodeInline, isPlainObject } from "../json/CanonicalJson.js"
import type { Json } from "../json/Json.js"
import { nearest } from "../text/NearestName.js"
import { kindOf } from "../text/ValueKind.js"
import { allOf, anyOf, opposite, type Predicate, type Test } from "./Predicate.js"

/** The maximum nesting of `and`, `or` and `not`. */
export const maxNesting = 32

/** The maximum number of comparisons in a query, and of values in an `in`. */
export const maxComparisons = 1000

/** The maximum number of objects: each comparison may be nested in as many. The members of a value do not count. */
const maxObjects = maxComparisons * (maxNesting + 1)

/** The maximum length of all values of a query together, as JSON. */
export const maxText = 1_000_000

/** The maximum length of a field's path. */
export const maxPath = 4096

/** The error of an invalid query: the path of the mistake, the problem, and a hint. */
export class QueryProblem extends Error {
  override readonly name = "QueryProblem"
  constructor(
    readonly path: string,
    readonly problem: string,
    readonly hint?: string | undefined
  ) {
    super(`${path} ${problem}`)
  }
}

const refuse = (path: string, problem: string, hint?: string): never => {
  throw new QueryProblem(path, problem, hint)
}

const bounds = ["lessThan", "atMost", "greaterThan", "atLeast"] as const

const operators = ["is", "isNot", "in", ...bounds, "startsWith", "exists"] as const

type Operator = (typeof operators)[number]

const isOperator = (name: string): name is Operator => operators.includes(name as Operator)

/** The names of the operators in other databases. */
const otherNames: ReadonlyMap<string, Operator> = new Map([
  ["eq", "is"],
  ["equals", "is"],
  ["ne", "isNot"],
  ["nin", "isNot"],
  ["lt", "lessThan"],
  ["lte", "atMost"],
  ["gt", "greaterThan"],
  ["gte", "atLeast"],
  ["prefix", "startsWith"]
])

/** The problem with a field's path, if any. */
export const pathProblem = (path: unknown): string | undefined =>
  typeof path !== "string"
    ? `must be the path of a field, it is ${kindOf(path)}`
    : path === ""
      ? "must be the path of a field, it is empty"
      : path.length > maxPath
        ? `has ${path.length} characters: a path has at most ${maxPath}`
        : undefined

const isScalar = (value: unknown): value is null | boolean | number | string =>
  value === null || ["boolean", "number", "string"].includes(typeof value)

/** Validates one condition. The result shares no objects with the input. */
class Reading {
  #comparisons = 0
  #objects = 0
  #text = 0

  #count(at: string): void {
    if (++this.#comparisons > maxComparisons) {
      refuse(at, `is one comparison too many: a query has at most ${maxComparisons}`, "ask several queries")
    }
  }

  #value(at: string, given: unknown): Json {
    if (given === undefined) {
      return refuse(
        at,
        "is undefined",
        "leave it out; a document without the field is found by { exists: false }"
      )
    }
    const text = encodeInline(given)
    if (Either.isLeft(text)) {
      const { message, path } = text.left
      return refuse(`${at}${/^(\[|$)/.test(path) ? "" : "."}${path}`, `is no JSON value: ${message}`)
    }
    this.#text += text.right.length
    if (this.#text > maxText) {
      return refuse(at, `is too large: the values of a query have at most ${maxText} characters together`)
    }
    return isScalar(given) ? given : (JSON.parse(text.right) as Json)
  }

  #values(at: string, given: unknown): ReadonlyArray<Json> {
    if (!Array.isArray(given)) return refuse(at, `must be a list of values, it is ${kindOf(given)}`)
    if (given.length > maxComparisons) {
      return refuse(at, `has ${given.length} values: at most ${maxComparisons} are compared`)
    }
    const values = new Map<string, Json>()
    for (let index = 0; index < given.length; index++) {
      const value = this.#value(`${at}[${index}]`, given[index])
      values.set(JSON.stringify(value), value)
    }
    return Array.from(values.entries())
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, value]) => value)
  }

  #test(at: string, operator: Exclude<Operator, "isNot" | "exists">, given: unknown): Test {
    if (operator === "in") return { operator, value: this.#values(at, given) }
    const value = this.#value(at, given)
    if (operator === "is") return { operator, value }
    if (operator === "startsWith") {
      return typeof value === "string"
        ? { operator, value }
        : refuse(at, `must be a text, it is ${kindOf(value)}`)
    }
    if (typeof value === "string" || typeof value === "number") return { operator, value }
    return refuse(at, `must be a number or a text, it is ${kindOf(value)}`, "compare other values with is")
  }

  #unknown(at: string, path: string, name: string): never {
    const plain = name.replace("$", "")
    const meant = otherNames.get(plain.toLowerCase()) ?? nearest(plain, operators)
    return refuse(
      `${at}.${name}`,
      meant === undefined
        ? `is not an operator; the operators are ${operators.join(", ")}`
        : `is not an operator: did you mean ${meant}?`,
      `a nested field is written "${path}.${name}", a whole object { is: { ... } }`
    )
  }

  #field(at: string, path: string, given: unknown): Predicate {
    const problem = pathProblem(path)
    if (problem !== undefined) return refuse(at, problem)
    if (isScalar(given)) {
      this.#count(at)
      return { _tag: "Field", path, tests: [this.#test(at, "is", given)] }
    }
    if (Array.isArray(given)) {
      return refuse(
        at,
        "is a list",
        "write { in: [...] } for one of several values, { is: [...] } for the list"
      )
    }
    if (given === undefined) this.#value(at, given)
    if (!isPlainObject(given)) return refuse(at, `must be a value or comparisons, it is ${kindOf(given)}`)
    const tests: Array<Test> = []
    const found: Array<Predicate> = []
    for (const [name, value] of Object.entries(given)) {
      const here = `${at}.${name}`
      if (!isOperator(name)) return this.#unknown(at, path, name)
      this.#count(here)
      if (name === "isNot") {
        found.push(opposite({ _tag: "Field", path, tests: [this.#test(here, "is", value)] }))
      } else if (name === "exists") {
        if (typeof value !== "boolean") return refuse(here, `must be true or false, it is ${kindOf(value)}`)
        found.push(value ? { _tag: "Exists", path } : opposite({ _tag: "Exists", path }))
      } else tests.push(this.#test(here, name, value))
    }
    if (tests.length === 0 && found.length === 0) {
      return refuse(at, "has no comparison", `write one of ${operators.join(", ")}`)
    }
    tests.sort((a, b) => operators.indexOf(a.operator) - operators.indexOf(b.operator))
    return allOf(tests.length === 0 ? found : [...found, { _tag: "Field", path, tests }])
  }

  #list(at: string, given: unknown, nesting: number): ReadonlyArray<Predicate> {
    if (!Array.isArray(given)) {
      return refuse(
        at,
        `must be a list of conditions, it is ${kindOf(given)}`,
        "and, or, not cannot be the names of fields in a query"
      )
    }
    return Array.from(given, (one, index) => this.where(`${at}[${index}]`, one, nesting))
  }

  where(at: string, given: unknown, nesting = 0): Predicate {
    if (nesting > maxNesting) {
      return refuse(at, `is nested too deeply: and, or, not are nested at most ${maxNesting} levels deep`)
    }
    if (++this.#objects > maxObjects) {
      return refuse(at, `is one object too many: a condition has at most ${maxObjects} objects`)
    }
    if (!isPlainObject(given)) return refuse(at, `must be an object of conditions, it is ${kindOf(given)}`)
    const below = nesting + 1
    const all = Object.entries(given).map(([key, value]): Predicate => {
      const here = `${at}.${key}`
      if (key === "and") return allOf(this.#list(here, value, below))
      if (key === "or") return anyOf(this.#list(here, value, below))
      return key === "not" ? opposite(this.where(here, value, below)) : this.#field(here, key, value)
    })
    return allOf(all)
  }
}

/** Validates a condition. Throws a `QueryProblem`. */
export const readWhere = (given: unknown): Predicate => new Reading().where("where", given)
