import * as Effect from "effect/Effect"
import type { Oid } from "../../../domain/Oid.js"
import type { Reader } from "./Reader.js"
import type { TreeEdit } from "./TreeEdit.js"

/** A file of a tree, by the id of its blob. */
export interface TreeFile {
  readonly path: string
  readonly oid: Oid
}

/** Every file below a directory. */
export const filesBelow = <E>(reader: Reader<E>, path: string): Effect.Effect<ReadonlyArray<TreeFile>, E> =>
  Effect.gen(function* () {
    const files: Array<TreeFile> = []
    for (const { kind, name, oid } of (yield* reader.directory(path))?.entries ?? []) {
      const below = path === "" ? name : `${path}/${name}`
      if (kind === "blob") files.push({ path: below, oid })
      else for (const file of yield* filesBelow(reader, below)) files.push(file)
    }
    return files
  })

/** The same edits file by file, for remotes that cannot link or remove a directory. They are many where a directory moves. */
export const fileEdits = <E>(
  reader: Reader<E>,
  edits: ReadonlyArray<TreeEdit>
): Effect.Effect<ReadonlyArray<TreeEdit>, E> =>
  Effect.gen(function* () {
    const found: Array<TreeEdit> = []
    for (const edit of edits) {
      if (edit._tag === "Put" || edit.kind === "blob") {
        found.push(edit)
        continue
      }
      const before = new Map((yield* filesBelow(reader, edit.path)).map(({ oid, path }) => [path, oid]))
      const source = edit._tag === "Link" ? edit.from : undefined
      const moved = source === undefined ? [] : yield* filesBelow(reader, source)
      for (const { oid, path: from } of moved) {
        const path = edit.path + from.slice(source!.length)
        if (before.get(path) !== oid) found.push({ _tag: "Link", path, kind: "blob", oid, from })
        before.delete(path)
      }
      for (const path of before.keys()) found.push({ _tag: "Remove", path, kind: "blob" })
    }
    return found
  })
