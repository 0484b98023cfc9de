import { bytesToHex } from "@noble/hashes/utils.js"
import * as Either from "effect/Either"
import type { Oid } from "../domain/identifiers/Oid.js"
import type { CommitInfo } from "./Commit.js"
import { sha1 } from "./Digest.js"
import { cleanIdentity } from "./Names.js"
import type { TreeEntry } from "./Tree.js"

export type ObjectType = "blob" | "tree" | "commit" | "tag"

/** The type and the content of an object. */
export interface RawObject {
  readonly type: ObjectType
  readonly content: Uint8Array
}

/** An entry of a tree object. */
export interface NamedEntry {
  readonly name: string
  readonly mode: TreeEntry["mode"]
  readonly oid: Oid
}

/** A person and a time: seconds since the epoch, and the offset from UTC in minutes. */
export interface DatedSignature {
  readonly name: string
  readonly email: string
  readonly seconds: number
  readonly offset: number
}

export interface CommitObject {
  readonly tree: Oid
  readonly parents: ReadonlyArray<Oid>
  readonly author: DatedSignature
  readonly committer: DatedSignature
  readonly message: string
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** The id of an object: the SHA-1 of its type, length and content. */
export const hash = (type: ObjectType, content: Uint8Array): Oid =>
  sha1(encoder.encode(`${type} ${content.length}\0`), content) as Oid

const weight = (unit: number) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)

/** Orders two strings by Unicode code point, which is the order of their UTF-8 bytes. */
export const compareNames = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left !== right) return weight(left) - weight(right)
  }
  return a.length - b.length
}

/** The order of a tree's entries: by the bytes of their names, where a directory's name ends in a slash. */
export const compareEntries = (
  a: Pick<NamedEntry, "name" | "mode">,
  b: Pick<NamedEntry, "name" | "mode">
): number => {
  const [left, right] = [a.name, b.name]
  // Most names differ before one of them ends.
  if (!left.startsWith(right) && !right.startsWith(left)) return compareNames(left, right)
  return compareNames(a.mode === "040000" ? `${left}/` : left, b.mode === "040000" ? `${right}/` : right)
}

export const entryKindOf = (mode: TreeEntry["mode"]): TreeEntry["kind"] =>
  mode === "040000" ? "tree" : mode === "160000" ? "commit" : "blob"

/** Writes an id as bytes. Computing a digit from its character code is faster than parsing; a tree has thousands of digits. */
const setHex = (bytes: Uint8Array, at: number, digits: string): void => {
  for (let i = 0; i < digits.length; i += 2) {
    const high = digits.charCodeAt(i)
    const low = digits.charCodeAt(i + 1)
    bytes[at + i / 2] = (((high & 15) + (high >> 6) * 9) << 4) | ((low & 15) + (low >> 6) * 9)
  }
}

/** Writes text as UTF-8, and returns its end. ASCII text, which is most frequent, needs no call of the encoder. */
const setText = (bytes: Uint8Array, at: number, text: string): number => {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 127) return at + encoder.encodeInto(text, bytes.subarray(at)).written
    bytes[at + i] = unit
  }
  return at + text.length
}

/** Encodes a tree. The entries must be in the order of `compareEntries`. */
export const encodeTree = (entries: Iterable<NamedEntry>): Uint8Array => {
  let bytes = new Uint8Array(4096)
  let length = 0
  for (const entry of entries) {
    const maxBytes = 29 + entry.name.length * 3
    if (length + maxBytes > bytes.length) {
      const larger = new Uint8Array(Math.max(bytes.length * 2, length + maxBytes))
      larger.set(bytes.subarray(0, length))
      bytes = larger
    }
    const mode = entry.mode === "040000" ? "40000" : entry.mode
    length = setText(bytes, length, mode)
    bytes[length++] = 0x20
    length = setText(bytes, length, entry.name)
    bytes[length++] = 0
    setHex(bytes, length, entry.oid)
    length += 20
  }
  return bytes.slice(0, length)
}

const modes: ReadonlyMap<string, TreeEntry["mode"]> = new Map([
  ["40000", "040000"],
  ["040000", "040000"],
  ["100644", "100644"],
  ["100664", "100644"],
  ["100755", "100755"],
  ["120000", "120000"],
  ["160000", "160000"]
])

/** Parses a tree. Left with a reason if the bytes are not a tree with UTF-8 names. */
export const parseTree = (content: Uint8Array): Either.Either<ReadonlyArray<NamedEntry>, string> => {
  const entries: Array<NamedEntry> = []
  let at = 0
  while (at < content.length) {
    const space = content.indexOf(0x20, at)
    const end = space < 0 ? -1 : content.indexOf(0, space)
    if (end < 0 || end + 21 > content.length) return Either.left(`entry ${entries.length} is cut short`)
    // A damaged tree may have no space for megabytes, which are too many arguments for one call.
    const mode = space - at > 6 ? undefined : modes.get(String.fromCharCode(...content.subarray(at, space)))
    if (mode === undefined) return Either.left(`entry ${entries.length} has no known mode`)
    const name = Either.try(() => decoder.decode(content.subarray(space + 1, end)))
    if (Either.isLeft(name)) return Either.left(`the name of entry ${entries.length} is not UTF-8`)
    entries.push({ name: name.right, mode, oid: bytesToHex(content.subarray(end + 1, end + 21)) as Oid })
    at = end + 21
  }
  return Either.right(entries)
}

const formatPerson = (person: DatedSignature) => {
  const minutes = Math.abs(person.offset)
  const zone = `${Math.floor(minutes / 60)}`.padStart(2, "0") + `${minutes % 60}`.padStart(2, "0")
  return `${cleanIdentity(person.name)} <${cleanIdentity(person.email)}> ${person.seconds} ${person.offset < 0 ? "-" : "+"}${zone}`
}

/** A message as Git stores it, with a final newline. */
export const withFinalNewline = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`)

/** A stored message without its final newline. */
export const withoutFinalNewline = (message: string): string =>
  message.endsWith("\n") ? message.slice(0, -1) : message

/** Encodes a commit. */
export const encodeCommit = ({ author, committer, message, parents, tree }: CommitObject): Uint8Array => {
  const authorText = formatPerson(author)
  return encoder.encode(
    [
      `tree ${tree}`,
      ...parents.map((parent) => `parent ${parent}`),
      `author ${authorText}`,
      `committer ${committer === author ? authorText : formatPerson(committer)}`,
      "",
      message.replace(/\0/g, "")
    ].join("\n")
  )
}

/** Formats seconds since the epoch as GitHub does. */
export const toIsoDate = (seconds: number): string =>
  Number.isFinite(seconds) && Math.abs(seconds) < 8.64e12
    ? new Date(seconds * 1000).toISOString().replace(".000Z", "Z")
    : "1970-01-01T00:00:00Z"

const parsePerson = (line: string) => {
  const found = /^(.*?) ?<([^>]*)> ?(-?\d+)?/.exec(line)
  return {
    name: found?.[1] ?? line,
    email: found?.[2] ?? "",
    date: toIsoDate(Number(found?.[3] ?? 0))
  }
}

/** The decoder for the encoding that a commit names; UTF-8 if the encoding is unknown. */
const decoderOf = (encoding: string) => {
  try {
    return new TextDecoder(encoding, { ignoreBOM: true })
  } catch {
    return new TextDecoder("utf-8", { ignoreBOM: true })
  }
}

const endOfHeaders = (content: Uint8Array): number => {
  for (let at = content.indexOf(0x0a); at >= 0; at = content.indexOf(0x0a, at + 1)) {
    if (content[at + 1] === 0x0a) return at
  }
  return -1
}

const latin1 = new TextDecoder("latin1")

/** Parses a commit. Unknown headers, such as signatures, are ignored. Undefined if the commit names no tree. */
export const parseCommit = (oid: Oid, content: Uint8Array): CommitInfo | undefined => {
  const split = endOfHeaders(content)
  const headerBytes = content.subarray(0, split < 0 ? content.length : split)
  const encoding = /\nencoding ([^\n]*)/.exec(latin1.decode(headerBytes))?.[1]
  const decoder = decoderOf(encoding ?? "utf-8")
  let tree = ""
  let author = ""
  let committer = ""
  const parents: Array<Oid> = []
  for (const line of decoder.decode(headerBytes).split("\n")) {
    const space = line.indexOf(" ")
    const value = line.slice(space + 1)
    switch (line.slice(0, space)) {
      case "tree":
        tree = value
        break
      case "parent":
        parents.push(value as Oid)
        break
      case "author":
        author = value
        break
      case "committer":
        committer = value
        break
    }
  }
  if (tree.length !== 40) return undefined
  return {
    commit: oid,
    tree: tree as Oid,
    parents,
    message: split < 0 ? "" : withoutFinalNewline(decoder.decode(content.subarray(split + 2))),
    author: parsePerson(author),
    committer: parsePerson(committer)
  }
}
