import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../Commit.js"
import * as GitObject from "../../GitObject.js"
import { EngineError } from "../files/EngineError.js"

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Parses a commit. Throws if it names no tree. */
export const parseCommit = (oid: Oid, content: Uint8Array): CommitInfo => {
  const commit = GitObject.parseCommit(oid, content)
  if (commit === undefined) throw new EngineError("Corrupt", `Commit ${oid} names no tree`, "Run `git fsck`")
  return commit
}

/** The object that an annotated tag points to. */
export const tagTarget = (content: Uint8Array): Oid | undefined =>
  /^object ([0-9a-f]{40})\n/.exec(asBuffer(content).toString("latin1", 0, 64))?.[1] as Oid | undefined
