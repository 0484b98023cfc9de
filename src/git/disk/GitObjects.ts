import * as crypto from "node:crypto"
import type { Oid } from "../../domain/Oid.js"
import type { CommitInfo } from "../Commit.js"
import { messageText, type ObjectType } from "../GitObject.js"
import { Fault } from "./Fault.js"

/** An object in memory, as the engine passes it around. */
export interface RawObject {
  readonly type: ObjectType
  readonly content: Uint8Array
}

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The id of an object: the SHA-1 of its type, length and content. */
export const hashObject = (type: ObjectType, content: Uint8Array): Oid =>
  crypto
    .createHash("sha1")
    .update(`${type} ${content.length}\0`, "latin1")
    .update(content)
    .digest("hex") as Oid

/** Seconds since the epoch as GitHub writes dates. */
export const dateText = (seconds: number): string =>
  Number.isFinite(seconds) && Math.abs(seconds) < 8.64e12
    ? new Date(seconds * 1000).toISOString().replace(".000Z", "Z")
    : "1970-01-01T00:00:00Z"

const parsePerson = (line: string) => {
  const found = /^(.*?) ?<([^>]*)> ?(-?\d+)?/.exec(line)
  return {
    name: found?.[1] ?? line,
    email: found?.[2] ?? "",
    date: dateText(Number(found?.[3] ?? 0))
  }
}

const encodingOf = (head: Buffer): string => {
  const at = head.indexOf("\nencoding ")
  return at < 0 ? "utf-8" : head.toString("latin1", at + 10).split("\n")[0]!
}

/** Reads text in an encoding that a commit names; in UTF-8 where nobody knows it. */
const textIn = (encoding: string): ((bytes: Buffer) => string) => {
  if (/^utf-?8$/i.test(encoding)) return (bytes) => bytes.toString("utf8")
  try {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true })
    return (bytes) => decoder.decode(bytes)
  } catch {
    return (bytes) => bytes.toString("utf8")
  }
}

export const parseCommit = (oid: Oid, content: Uint8Array): CommitInfo => {
  const bytes = asBuffer(content)
  const split = bytes.indexOf("\n\n")
  const end = split < 0 ? bytes.length : split
  const text = textIn(encodingOf(bytes.subarray(0, end)))
  const head = text(bytes.subarray(0, end)).split("\n")
  let tree = ""
  let author = ""
  let committer = ""
  const parents: Array<Oid> = []
  for (const line of head) {
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
  if (tree.length !== 40) throw new Fault("Corrupt", `Commit ${oid} names no tree`, "Run `git fsck`")
  const message = split < 0 ? "" : text(bytes.subarray(split + 2))
  return {
    commit: oid,
    tree: tree as Oid,
    parents,
    message: messageText(message),
    author: parsePerson(author),
    committer: parsePerson(committer)
  }
}

/** What a tag object points to. */
export const tagTarget = (content: Uint8Array): Oid | undefined =>
  /^object ([0-9a-f]{40})\n/.exec(asBuffer(content).toString("latin1", 0, 64))?.[1] as Oid | undefined
