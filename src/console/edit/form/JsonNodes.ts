import type { Json } from "../../../domain/json/Json.js"
import * as JsonSteps from "../../../domain/json/JsonParser.js"

/** A range of a text. */
interface Span {
  readonly from: number
  readonly to: number
}

export type Path = ReadonlyArray<string | number>

/** A member of an object; `from` and `to` are the range of its key, with the quotes. */
export interface JsonMember extends Span {
  readonly key: string
  readonly value: JsonNode
}

export interface ObjectNode extends Span {
  readonly kind: "object"
  readonly members: ReadonlyArray<JsonMember>
}

export interface ListNode extends Span {
  readonly kind: "list"
  readonly items: ReadonlyArray<JsonNode>
}

/** A string, number, boolean or null. */
export interface ScalarNode extends Span {
  readonly kind: "text" | "number" | "boolean" | "null"
  /** The value of `JSON.parse`; a number may have more digits in the text. */
  readonly value: Json
}

/** A value of a JSON text with its range. */
export type JsonNode = ObjectNode | ListNode | ScalarNode

const blank = /[ \t\n\r]*/y
const scalar = /[^\s,\]}]+/y

/** Parses a valid JSON text that is not nested deeper than a document may be. */
export const parseNodes = (text: string): JsonNode => {
  let at = 0
  const skip = (expression: RegExp) => {
    expression.lastIndex = at
    expression.exec(text)
    at = Math.max(at, expression.lastIndex)
  }
  const isNext = (character: string) => {
    skip(blank)
    return text[at] === character
  }
  const textEnd = () => JsonSteps.endOfString(text, at) + 1

  const listOf = <A>(close: string, read: () => A): ReadonlyArray<A> => {
    const all: Array<A> = []
    at++
    while (!isNext(close)) {
      if (text[at] === ",") at++
      skip(blank)
      all.push(read())
    }
    at++
    return all
  }

  const member = (): JsonMember => {
    const from = at
    at = textEnd()
    const to = at
    const key = JSON.parse(text.slice(from, to)) as string
    skip(blank)
    at++
    return { key, from, to, value: value() }
  }

  const value = (): JsonNode => {
    skip(blank)
    const from = at
    const first = text[at]
    if (first === "{") {
      const members = listOf("}", member)
      return { kind: "object", from, to: at, members }
    }
    if (first === "[") {
      const items = listOf("]", value)
      return { kind: "list", from, to: at, items }
    }
    if (first === '"') at = textEnd()
    else skip(scalar)
    const kind =
      first === '"' ? "text" : first === "n" ? "null" : first === "t" || first === "f" ? "boolean" : "number"
    return { kind, from, to: at, value: JSON.parse(text.slice(from, at)) as Json }
  }

  return value()
}

/** The node at a path; undefined if there is none. */
export const nodeAt = (root: JsonNode, path: Path): JsonNode | undefined =>
  path.reduce<JsonNode | undefined>((node, step) => {
    if (typeof step === "number") return node?.kind === "list" ? node.items[step] : undefined
    return node?.kind === "object" ? node.members.find(({ key }) => key === step)?.value : undefined
  }, root)
