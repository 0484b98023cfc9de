import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Bounded } from "../../../domain/Bounded.js"
import type { Oid } from "../../../domain/Oid.js"
import * as GitObject from "../../../git/GitObject.js"
import { applyPatch, type Hunk, parsePatch, reversed } from "../../../git/Patch.js"
import type { PathChange } from "../GitRemote.js"
import type { ObjectCache } from "./ObjectCache.js"

/** The files of a commit, as the answer that describes it lists them; a large patch is left out. */
const Files = Schema.Array(
  Schema.Struct({
    filename: Schema.String,
    previous_filename: Schema.optional(Schema.String),
    status: Schema.optional(Schema.String),
    patch: Schema.optional(Schema.String)
  })
)
type File = (typeof Files.Type)[number]

/** One version of a file, as the patch between it and another version tells it. */
interface Version {
  readonly patch: string
  readonly side: "old" | "new"
  readonly other: Oid | undefined
}

const weightOf = (texts: Iterable<string | undefined>) => {
  let sum = 200
  for (const text of texts) sum += 100 + 2 * (text?.length ?? 0)
  return sum
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * The contents of the files that a commit changed, by its patches. A patch that shows a whole file tells both versions
 * of it; another one tells a version where the other is known. What a patch tells counts only if it has the blob's id.
 */
export interface Patches {
  /** The cache, and what can be worked out from it. */
  readonly cache: ObjectCache
  /** Keeps the files that a page of a commit's answer lists; says whether there were any. */
  readonly keep: (commit: Oid, files: unknown) => boolean
  /** The paths of the files that a commit changed, as they were before it. */
  readonly paths: (commit: Oid) => ReadonlyArray<string>
  /** Which blobs the patches of a commit are about. */
  readonly learn: (commit: Oid, changes: ReadonlyArray<PathChange>) => void
}

export const makePatches = (objects: ObjectCache, maxBytes: number): Patches => {
  const files = new Bounded<ReadonlyArray<File>>(maxBytes, (list) => weightOf(list.map(({ patch }) => patch)))
  const versions = new Bounded<Version>(maxBytes, ({ patch }) => weightOf([patch]))

  const told = (hunks: ReadonlyArray<Hunk>, { other, side }: Version): ReadonlyArray<string> => {
    const [first] = hunks
    const whole = hunks.length === 1 && first?.before === 0 ? [first[side].join("")] : []
    const base = other === undefined ? undefined : objects.blob(other)
    const applied = base && applyPatch(decoder.decode(base), side === "new" ? hunks : reversed(hunks))
    return applied === undefined ? whole : [...whole, applied]
  }

  const blob = (oid: Oid): Uint8Array | undefined => {
    const version = versions.get(oid)
    const hunks = version && parsePatch(version.patch)
    if (version === undefined || hunks === undefined) return undefined
    for (const text of told(hunks, version)) {
      const content = encoder.encode(text)
      if (GitObject.hash("blob", content) !== oid) continue
      objects.putBlob(oid, content)
      return content
    }
    return undefined
  }

  return {
    cache: { ...objects, blob: (oid) => objects.blob(oid) ?? blob(oid) },
    keep: (commit, given) => {
      const found = Option.getOrElse(Schema.decodeUnknownOption(Files)(given), (): ReadonlyArray<File> => [])
      if (found.length > 0) files.set(commit, [...(files.peek(commit) ?? []), ...found])
      return found.length > 0
    },
    paths: (commit) =>
      (files.peek(commit) ?? []).flatMap(({ filename, previous_filename: previous, status }) =>
        status === "added" ? [] : [previous ?? filename]
      ),
    learn: (commit, changes) => {
      const list = files.peek(commit)
      if (list === undefined) return
      const changed = new Map(changes.map((change) => [change.path, change]))
      for (const { filename, patch, previous_filename: previous } of list) {
        if (patch === undefined) continue
        const before = changed.get(previous ?? filename)?.before ?? Option.none()
        const after = changed.get(filename)?.after ?? Option.none()
        const [from, to] = [Option.getOrUndefined(before), Option.getOrUndefined(after)]
        if (from !== undefined) versions.set(from, { patch, side: "old", other: to })
        if (to !== undefined) versions.set(to, { patch, side: "new", other: from })
      }
    }
  }
}
