import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Steps from "../concurrency/Steps.js"
import { setMember } from "./JsonCopy.js"

/** Characters that `JSON.parse` reads at once: a few milliseconds even of objects that each have a key of their own. */
const pieceLength = 65_536

/** Whether a text is read in one go. */
export const isShort = (text: { readonly length: number }, piece = pieceLength): boolean =>
  text.length <= 2 * piece

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Array.from(
  '"\\,[]{}',
  (text) => text.charCodeAt(0)
)

const isBlank = (text: string): boolean => /^[ \t\n\r]*$/.test(text)

const unexpected = (at: number) => new SyntaxError(`Unexpected text after position ${at}`)

/** A list or an object whose end has not been seen. */
interface Open {
  readonly isList: boolean
  readonly start: number
  /** Where the members begin that were not read yet; undefined behind a member that was, until its comma. */
  unread: number | undefined
  /** Where the newest member begins. */
  member: number
  /** What was read of it, and the key that the member after it has: where it is read in pieces. */
  value: Array<unknown> | Record<string, unknown> | undefined
  key: string
}

/** The members as `JSON.parse` reads them; it would name a place in the piece, which is none in the text. */
const parsePiece = (piece: string, at: number): unknown => {
  try {
    return JSON.parse(piece)
  } catch {
    throw unexpected(at)
  }
}

/** Reads the members up to a place. Nothing may stand there only where the list or object is empty. */
const readMembers = (open: Open, text: string, end: number, isEnd: boolean): void => {
  if (open.unread === undefined) {
    if (!isBlank(text.slice(open.member, end))) throw unexpected(open.member)
    return
  }
  const piece = text.slice(open.unread, end)
  if (isBlank(piece)) {
    if (isEnd && open.unread === open.start + 1) return
    throw unexpected(end)
  }
  if (Array.isArray(open.value)) {
    for (const member of parsePiece(`[${piece}]`, open.unread) as Array<unknown>) open.value.push(member)
  } else {
    const members = parsePiece(`{${piece}}`, open.unread) as Record<string, unknown>
    for (const key of Object.keys(members)) setMember(open.value!, key, members[key])
  }
}

/** The key of the member that begins a list or an object, or an index that nobody asks for. */
const keyBefore = ({ isList, member }: Open, text: string, start: number): string => {
  const before = text.slice(member, start)
  if (isList) {
    if (isBlank(before)) return ""
    throw unexpected(member)
  }
  const [key] = Object.keys(parsePiece(`{${before}null}`, member) as object)
  return key!
}

/** Begins to read the innermost list or object in pieces, and so everything that it is in. */
const readInPieces = (stack: ReadonlyArray<Open>, text: string): void => {
  let depth = stack.length - 1
  while (depth > 0 && stack[depth]!.value === undefined) depth--
  for (; depth < stack.length; depth++) {
    const open = stack[depth]!
    const inner = stack[depth + 1]
    open.value ??= open.isList ? [] : {}
    if (inner === undefined) return
    if (open.unread === undefined) throw unexpected(open.member)
    if (open.unread < open.member) readMembers(open, text, open.member - 1, false)
    open.unread = undefined
    open.key = keyBefore(open, text, inner.start)
  }
}

/** The place of the quote that ends the string which begins at another one; the text's length where none does. */
export const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

/**
 * The value of a JSON text, as `JSON.parse` reads it, in steps of a few milliseconds. Throws a `SyntaxError` where that
 * would, with words of its own. Nesting costs no stack here; what a value is worth to its reader is for others to judge.
 */
export function* parse(text: string, piece = pieceLength): Steps.Steps<unknown> {
  if (isShort(text, piece)) return JSON.parse(text)
  const stack: Array<Open> = []
  let result: { readonly value: unknown; readonly end: number } | undefined
  let next = piece
  /** Where the text begins that no level has read: each of many levels may hold a little of it. */
  let unread = 0
  for (let at = 0; at < text.length; at++) {
    if (at >= next) {
      next = at + piece
      yield
    }
    const unit = text.charCodeAt(at)
    if (unit === quote) at = endOfString(text, at)
    else if (unit === comma) {
      const open = stack.at(-1)
      if (open === undefined) throw unexpected(at)
      if (open.unread === undefined) {
        readMembers(open, text, at, false)
        open.unread = at + 1
      } else if (at - unread >= piece) {
        readInPieces(stack, text)
        readMembers(open, text, at, false)
        open.unread = at + 1
        unread = at + 1
        yield
      }
      open.member = at + 1
    } else if (unit === openList || unit === openObject) {
      if (result !== undefined || (stack.length === 0 && !isBlank(text.slice(0, at)))) throw unexpected(at)
      const isList = unit === openList
      stack.push({ isList, start: at, unread: at + 1, member: at + 1, value: undefined, key: "" })
      if (at - unread >= piece) {
        readInPieces(stack, text)
        unread = at + 1
        yield
      }
    } else if (unit === closeList || unit === closeObject) {
      const open = stack.at(-1)
      if (open === undefined || open.isList !== (unit === closeList)) throw unexpected(at)
      if (stack.length === 1 || at - unread >= piece) readInPieces(stack, text)
      stack.pop()
      if (open.value === undefined) continue
      readMembers(open, text, at, true)
      unread = at + 1
      yield
      const outer = stack.at(-1)
      if (outer === undefined) result = { value: open.value, end: at + 1 }
      else {
        if (Array.isArray(outer.value)) outer.value.push(open.value)
        else setMember(outer.value!, outer.key, open.value)
        outer.member = at + 1
      }
    }
  }
  // No list and no object: one value, or what is none.
  if (result === undefined && stack.length === 0) return JSON.parse(text)
  if (result === undefined || !isBlank(text.slice(result.end))) throw unexpected(result?.end ?? text.length)
  return result.value
}

function* attempt(text: string): Steps.Steps<Either.Either<unknown, SyntaxError>> {
  try {
    return Either.right(yield* parse(text))
  } catch (error) {
    return Either.left(error as SyntaxError)
  }
}

/** The value of a JSON text, with turns for others where it is long. */
export const parseSliced = (text: string): Effect.Effect<unknown, SyntaxError> =>
  Effect.flatten(Steps.run(() => attempt(text)))
