import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Steps from "../concurrency/Steps.js"
import { setMember } from "./JsonCopy.js"

/** The number of characters per `JSON.parse` call: a few milliseconds, even if every object has a different key. */
const pieceLength = 65_536

/** Whether a text is parsed in one call. */
export const isShort = (text: { readonly length: number }, piece = pieceLength): boolean =>
  text.length <= 2 * piece

const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Array.from(
  '"\\,[]{}',
  (text) => text.charCodeAt(0)
)

const isBlank = (text: string): boolean => /^[ \t\n\r]*$/.test(text)

const unexpected = (at: number) => new SyntaxError(`Unexpected text after position ${at}`)

/** A list or an object whose end has not been reached. */
interface Open {
  readonly isList: boolean
  readonly start: number
  /** The position of the first unread member; undefined after a member that was read, until the next comma. */
  unread: number | undefined
  /** The position of the current member. */
  member: number
  /** If it is read in pieces: the members read so far, and the key of the member that is being read. */
  value: Array<unknown> | Record<string, unknown> | undefined
  key: string
}

/** Parses members with `JSON.parse`. Its error positions refer to the piece, so they are replaced by those of the text. */
const parsePiece = (piece: string, at: number): unknown => {
  try {
    return JSON.parse(piece)
  } catch {
    throw unexpected(at)
  }
}

/** Reads the members up to a position. Only an empty list or object may have none. */
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

/** The key of a nested list or object in its parent; an empty text if the parent is a list. */
const keyBefore = ({ isList, member }: Open, text: string, start: number): string => {
  const before = text.slice(member, start)
  if (isList) {
    if (isBlank(before)) return ""
    throw unexpected(member)
  }
  const [key] = Object.keys(parsePiece(`{${before}null}`, member) as object)
  return key!
}

/** Starts reading the innermost list or object in pieces, and all those that contain it. */
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

/** The position of the closing quote of the string that begins at `start`; the text's length if there is none. */
export const endOfString = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

/**
 * Parses a JSON text like `JSON.parse`, in steps of a few milliseconds. Throws a `SyntaxError` for the same texts, with
 * other messages. Deep nesting uses no stack.
 */
export function* parse(text: string, piece = pieceLength): Steps.Steps<unknown> {
  if (isShort(text, piece)) return JSON.parse(text)
  const stack: Array<Open> = []
  let result: { readonly value: unknown; readonly end: number } | undefined
  let next = piece
  /** The position up to which the text was read. Each level may have a small unread part after it. */
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
  // No list and no object: a scalar, or invalid text.
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

/** Parses a JSON text, with pauses if it is long. */
export const parseSliced = (text: string): Effect.Effect<unknown, SyntaxError> =>
  Effect.flatten(Steps.run(() => attempt(text)))
