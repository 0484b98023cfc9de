import { type JsonNode, type ListNode, nodeAt, type ObjectNode, type Path, parseNodes } from "./JsonNodes.js"

/** A replacement of a part of a text. */
export interface TextChange {
  readonly from: number
  readonly to: number
  readonly insert: string
}

/** An edit of one value of a document; `raw` is JSON. */
export type FormEdit =
  /** Sets a value and creates missing parent objects. */
  | { readonly _tag: "Set"; readonly path: Path; readonly raw: string }
  /** Replaces a string; unchanged characters keep their escapes. */
  | { readonly _tag: "Type"; readonly path: Path; readonly value: string }
  | { readonly _tag: "Remove"; readonly path: Path }
  /** Appends an item to a list. */
  | { readonly _tag: "Add"; readonly path: Path; readonly raw: string }
  /** Swaps an item of a list with the previous or the next one. */
  | { readonly _tag: "Move"; readonly path: Path; readonly by: -1 | 1 }

/** Applies a change to a text. */
export const applyTextChange = (text: string, { from, insert, to }: TextChange): string =>
  text.slice(0, from) + insert + text.slice(to)

/** The JSON source of each code unit of a string. */
const unitsOf = (raw: string): ReadonlyArray<string> => raw.match(/\\u[\da-fA-F]{4}|\\.|[^\\]/gs) ?? []

const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000

/** Replaces only the part of a string that differs: the common prefix and suffix keep their escapes. */
const typed = (text: string, { from, to }: JsonNode, before: string, after: string): TextChange => {
  const units = unitsOf(text.slice(from + 1, to - 1))
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  // Does not split a surrogate pair.
  if (start > 0 && isHigh(before.charCodeAt(start - 1))) start--
  let end = 0
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  if (end > 0 && isLow(before.charCodeAt(before.length - end))) end--
  const width = (begin: number, stop: number) =>
    units.slice(begin, stop).reduce((sum, unit) => sum + unit.length, 0)
  const kept = from + 1 + width(0, start)
  return {
    from: kept,
    to: kept + width(start, before.length - end),
    insert: JSON.stringify(after.slice(start, after.length - end)).slice(1, -1)
  }
}

const lineBreak = /\r\n|\n|\r/

/** The indentation of the line. */
const indentAt = (text: string, at: number): string => {
  const start = Math.max(text.lastIndexOf("\n", at - 1), text.lastIndexOf("\r", at - 1)) + 1
  return /^[ \t]*/.exec(text.slice(start, at))![0]
}

/** Appends to an object or a list, with the white space that it uses. */
const appended = (
  text: string,
  node: ObjectNode | ListNode,
  print: (colon: string) => string
): TextChange => {
  const parts = node.kind === "object" ? node.members : node.items
  const last = parts.at(-1)
  if (last !== undefined) {
    const end = "key" in last ? last.value.to : last.to
    const colon = "key" in last ? text.slice(last.to, last.value.from) : ": "
    const first = parts[0]!
    const before =
      parts.length > 1
        ? text.slice(endOf(parts[parts.length - 2]!), last.from).replace(/^[^,]*,/, "")
        : text.slice(node.from + 1, first.from)
    return { from: end, to: end, insert: `,${before}${print(colon)}` }
  }
  const [newline] = lineBreak.exec(text) ?? []
  if (newline === undefined || node.kind === "list")
    return { from: node.from + 1, to: node.to - 1, insert: print(": ") }
  const indent = indentAt(text, node.from)
  return {
    from: node.from + 1,
    to: node.to - 1,
    insert: `${newline}${indent}  ${print(": ")}${newline}${indent}`
  }
}

type Part = ObjectNode["members"][number] | JsonNode

const endOf = (part: Part): number => ("key" in part ? part.value.to : part.to)

/** Removes a member or an item, with its comma. */
const removed = (node: ObjectNode | ListNode, at: number): TextChange => {
  const parts: ReadonlyArray<Part> = node.kind === "object" ? node.members : node.items
  const part = parts[at]!
  if (parts.length === 1) return { from: node.from + 1, to: node.to - 1, insert: "" }
  return at === 0
    ? { from: part.from, to: parts[1]!.from, insert: "" }
    : { from: endOf(parts[at - 1]!), to: endOf(part), insert: "" }
}

/** Wraps a value in nested objects. */
const wrapped = (path: Path, raw: string): string =>
  path.reduceRight<string>((inner, key) => `{${JSON.stringify(key)}: ${inner}}`, raw)

const set = (text: string, root: JsonNode, path: Path, raw: string): TextChange | undefined => {
  const node = nodeAt(root, path)
  if (node !== undefined) return { from: node.from, to: node.to, insert: raw }
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const above = nodeAt(root, path.slice(0, depth))
    if (above === undefined) continue
    const [key, ...rest] = path.slice(depth)
    const inner = wrapped(rest, raw)
    return above.kind === "object"
      ? appended(text, above, (colon) => `${JSON.stringify(key)}${colon}${inner}`)
      : // A value that is not an object is replaced by an object.
        { from: above.from, to: above.to, insert: wrapped([key!, ...rest], raw) }
  }
  return undefined
}

/** The text change of an edit of valid JSON; undefined if nothing changes. */
export const textChangeOf = (text: string, edit: FormEdit): TextChange | undefined => {
  const root = parseNodes(text)
  const { path } = edit
  const node = nodeAt(root, path)
  if (edit._tag === "Set") return set(text, root, path, edit.raw)
  if (edit._tag === "Type") {
    if (node?.kind !== "text") return set(text, root, path, JSON.stringify(edit.value))
    return node.value === edit.value ? undefined : typed(text, node, node.value as string, edit.value)
  }
  if (edit._tag === "Add") {
    return node?.kind === "list" ? appended(text, node, () => edit.raw) : undefined
  }
  const above = nodeAt(root, path.slice(0, -1))
  const step = path.at(-1)
  if (node === undefined || above === undefined || step === undefined) return undefined
  if (edit._tag === "Remove") {
    if (above.kind === "list") return removed(above, step as number)
    if (above.kind !== "object") return undefined
    return removed(
      above,
      above.members.findIndex(({ key }) => key === step)
    )
  }
  const other = above.kind === "list" ? above.items[(step as number) + edit.by] : undefined
  if (other === undefined) return undefined
  const [first, second] = edit.by === 1 ? [node, other] : [other, node]
  return {
    from: first.from,
    to: second.to,
    insert:
      text.slice(second.from, second.to) +
      text.slice(first.to, second.from) +
      text.slice(first.from, first.to)
  }
}
