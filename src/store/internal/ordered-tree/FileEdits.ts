import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { type ReadSteps, readDirectories, runAllSteps } from "./ReadSteps.js"
import type { TreeEdit } from "./TreeEdit.js"
import type { TreeReader } from "./TreeReader.js"

/** A file of a tree. */
export interface TreeFile {
  readonly path: string
  readonly oid: Oid
}

const join = (directory: string, name: string) =>
  directory === "" ? name : name === "" ? directory : `${directory}/${name}`

function* filesBelow(root: string, part: string): ReadSteps<ReadonlyArray<TreeFile>> {
  const files: Array<TreeFile> = []
  let level = [part]
  while (level.length > 0) {
    const found = yield* readDirectories(level.map((path) => join(root, path)))
    const below: Array<string> = []
    for (const [at, directory] of found.entries()) {
      for (const { kind, name, oid } of directory?.entries ?? []) {
        const path = join(level[at]!, name)
        if (kind === "blob") files.push({ path, oid })
        else below.push(path)
      }
    }
    level = below
  }
  return files
}

/** All files below a directory; paths are relative to it. */
export const filesIn = <E>(reader: TreeReader<E>, root: string): Effect.Effect<ReadonlyArray<TreeFile>, E> =>
  Effect.map(runAllSteps(reader, [() => filesBelow(root, "")]), ([found]) => Either.getOrThrow(found!))

/**
 * Replaces edits of directories in `root` by edits of files, for remotes that cannot link or remove a directory. A
 * moved directory results in many edits.
 */
export function* fileEdits(root: string, edits: ReadonlyArray<TreeEdit>): ReadSteps<ReadonlyArray<TreeEdit>> {
  const found: Array<TreeEdit> = []
  for (const edit of edits) {
    if (edit._tag === "Put" || edit.kind === "blob") {
      found.push(edit)
      continue
    }
    const before = new Map((yield* filesBelow(root, edit.path)).map(({ oid, path }) => [path, oid]))
    const source = edit._tag === "Link" ? edit.from : undefined
    const moved = source === undefined ? [] : yield* filesBelow(root, source)
    for (const { oid, path: from } of moved) {
      const path = edit.path + from.slice(source!.length)
      if (before.get(path) !== oid) found.push({ _tag: "Link", path, kind: "blob", oid, from })
      before.delete(path)
    }
    for (const path of before.keys()) found.push({ _tag: "Remove", path, kind: "blob" })
  }
  return found
}
