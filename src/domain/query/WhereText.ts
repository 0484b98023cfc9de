import type { Json } from "../json/Json.js"
import type { AnyWhere } from "./Query.js"
import { maxNesting, QueryProblem } from "./ReadWhere.js"

/*
 * The text form of a condition, as a command line takes it:
 *
 *   price>=10 and city=London or not (tags:x)
 *   name startsWith Lo and email exists and status in (open, "in work")
 *
 * `not` binds tightest, then `and`, then `or`. A value is JSON where it is JSON; any other word is a text.
 */

/** A token of the text, and its position. */
interface Token {
  readonly kind: "word" | "quoted" | "sign" | "json" | "end"
  readonly text: string
  readonly at: number
}

const signs: Readonly<Record<string, string>> = {
  "=": "is",
  ":": "is",
  "!=": "isNot",
  "<": "lessThan",
  "<=": "atMost",
  ">": "greaterThan",
  ">=": "atLeast",
  "^=": "startsWith"
}

const wordOperators = ["is", "isNot", "lessThan", "atMost", "greaterThan", "atLeast", "startsWith"]

const problemAt = (at: number, problem: string): never => {
  throw new QueryProblem(`where, at character ${at + 1}:`, problem)
}

const sign = /!=|<=|>=|\^=|[=:<>(),]/y
const word = /[^\s=:<>(),!^"'[\]{}]+|[!^]/y
/** A word of a value may contain signs that are operators elsewhere, such as the colons of a time. */
const valueWord = /[^\s(),"'[\]{}]+/y

const matchAt = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** The position after the JSON string that begins at a quote. */
const afterString = (text: string, start: number): number => {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === '"') return at + 1
  }
  return problemAt(start, 'has a quote " that is not closed')
}

/** The position after the list or object that begins at a bracket. */
const afterBracket = (text: string, start: number): number => {
  let depth = 0
  for (let at = start; at < text.length; ) {
    const character = text[at]!
    if (character === '"') at = afterString(text, at)
    else {
      at++
      if (character === "[" || character === "{") depth++
      else if (character === "]" || character === "}") depth--
      if (depth === 0) return at
    }
  }
  return problemAt(start, `has a bracket ${text[start]} that is not closed`)
}

class Parser {
  #at = 0

  constructor(private readonly text: string) {}

  /** The next token at a position. If it is a value, a word extends to the next space. */
  #tokenAt(from: number, isValue: boolean): Token & { readonly after: number } {
    let at = from
    while (/\s/.test(this.text.charAt(at))) at++
    const first = this.text[at]
    if (first === undefined) return { kind: "end", text: "", at, after: at }
    if (first === '"') {
      const after = afterString(this.text, at)
      return { kind: "quoted", text: this.#json(at, after) as string, at, after }
    }
    if (first === "'") {
      const end = this.text.indexOf("'", at + 1)
      if (end < 0) return problemAt(at, "has a quote ' that is not closed")
      return { kind: "quoted", text: this.text.slice(at + 1, end), at, after: end + 1 }
    }
    if (first === "[" || first === "{") {
      const after = afterBracket(this.text, at)
      return { kind: "json", text: this.text.slice(at, after), at, after }
    }
    const found = isValue ? matchAt(valueWord, this.text, at) : matchAt(sign, this.text, at)
    if (found !== undefined) {
      return { kind: isValue ? "word" : "sign", text: found, at, after: at + found.length }
    }
    const other = matchAt(isValue ? sign : word, this.text, at)
    if (other === undefined) return problemAt(at, `has ${JSON.stringify(first)}, which has no meaning here`)
    return { kind: isValue ? "sign" : "word", text: other, at, after: at + other.length }
  }

  #json(from: number, to: number): Json {
    try {
      return JSON.parse(this.text.slice(from, to)) as Json
    } catch {
      return problemAt(from, `has ${this.text.slice(from, to)}, which is not JSON`)
    }
  }

  #peek(): Token {
    return this.#tokenAt(this.#at, false)
  }

  #next(isValue = false): Token {
    const token = this.#tokenAt(this.#at, isValue)
    this.#at = token.after
    return token
  }

  #isNext(text: string): boolean {
    const { kind, text: found } = this.#peek()
    return (kind === "word" || kind === "sign") && found.toLowerCase() === text
  }

  #take(text: string): boolean {
    if (!this.#isNext(text)) return false
    this.#next()
    return true
  }

  #expect(text: string): void {
    const { at, text: found } = this.#peek()
    if (!this.#take(text))
      problemAt(at, `${found === "" ? "ends" : `has ${found}`} where ${text} is expected`)
  }

  #value(): Json {
    const token = this.#next(true)
    if (token.kind === "quoted") return token.text
    if (token.kind === "json") return this.#json(token.at, token.at + token.text.length)
    if (token.kind !== "word") {
      return problemAt(
        token.at,
        `${token.kind === "end" ? "ends" : `has ${token.text}`} where a value is expected`
      )
    }
    try {
      return JSON.parse(token.text) as Json
    } catch {
      return token.text
    }
  }

  #values(): ReadonlyArray<Json> {
    this.#expect("(")
    const values: Array<Json> = []
    if (this.#take(")")) return values
    do values.push(this.#value())
    while (this.#take(","))
    this.#expect(")")
    return values
  }

  #comparison(): AnyWhere {
    const path = this.#next()
    if (path.kind !== "word" && path.kind !== "quoted") {
      return problemAt(
        path.at,
        `${path.kind === "end" ? "ends" : `has ${path.text}`} where a field is expected`
      )
    }
    if (["and", "or", "not"].includes(path.text)) {
      return problemAt(path.at, `has ${path.text} where a field is expected`)
    }
    const operator = this.#next()
    const name =
      operator.kind === "sign"
        ? signs[operator.text]
        : wordOperators.find((one) => one.toLowerCase() === operator.text.toLowerCase())
    if (name !== undefined) return { [path.text]: { [name]: this.#value() } }
    switch (operator.text.toLowerCase()) {
      case "in":
        return { [path.text]: { in: this.#values() } }
      case "exists":
        return { [path.text]: { exists: true } }
      case "missing":
        return { [path.text]: { exists: false } }
    }
    return problemAt(
      operator.at,
      `${operator.kind === "end" ? "ends" : `has ${operator.text}`} where an operator is expected: ` +
        `${Object.keys(signs).join(" ")} startsWith in exists missing`
    )
  }

  #not(nesting: number): AnyWhere {
    const { at } = this.#peek()
    if (nesting > maxNesting) return problemAt(at, `is nested more than ${maxNesting} levels deep`)
    if (this.#take("not")) return { not: this.#not(nesting + 1) }
    if (!this.#take("(")) return this.#comparison()
    const inside = this.#or(nesting + 1)
    this.#expect(")")
    return inside
  }

  #and(nesting: number): AnyWhere {
    const all = [this.#not(nesting)]
    while (this.#take("and")) all.push(this.#not(nesting))
    const joined = withRanges(all)
    return joined.length === 1 ? joined[0]! : { and: joined }
  }

  #or(nesting: number): AnyWhere {
    const any = [this.#and(nesting)]
    while (this.#take("or")) any.push(this.#and(nesting))
    return any.length === 1 ? any[0]! : { or: any }
  }

  parse(): AnyWhere {
    const where = this.#or(0)
    const rest = this.#next()
    return rest.kind === "end" ? where : problemAt(rest.at, `has ${rest.text} where and or or is expected`)
  }
}

const lower = ["greaterThan", "atLeast"]
const upper = ["lessThan", "atMost"]

type Bound = readonly [path: string, operator: string]

/** The field and operator of a parsed condition with one comparison. */
const boundOf = (where: AnyWhere): Bound | undefined => {
  const [path, comparisons] = Object.entries(where)[0]!
  const [operator, ...more] = Object.keys(comparisons as object)
  const isBound = more.length === 0 && [...lower, ...upper].includes(operator!)
  return isBound && path !== "not" ? [path, operator!] : undefined
}

/** Joins two bounds such as `price>=10 and price<20` into one condition, so that one value must satisfy both. */
const withRanges = (all: ReadonlyArray<AnyWhere>): ReadonlyArray<AnyWhere> => {
  const joined: Array<AnyWhere> = []
  for (const one of all) {
    const bound = boundOf(one)
    const other = bound && joined.find((before) => isOtherSide(boundOf(before), bound))
    if (other === undefined) joined.push(one)
    else Object.assign(Object.values(other)[0]!, Object.values(one)[0])
  }
  return joined
}

const isOtherSide = (a: Bound | undefined, b: Bound): boolean =>
  a?.[0] === b[0] && lower.includes(a[1]) !== lower.includes(b[1])

/** Parses the text form of a condition. Throws a `QueryProblem` with the position of the mistake. */
export const parseWhere = (text: string): AnyWhere => new Parser(text).parse()
