import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Exclusively } from "../../internal/Mutex.js"
import type { Change, FileCommitted, SingleFile } from "../GitRemote.js"
import type { Branches } from "./Branches.js"
import type { Client } from "./Client.js"
import type { Files } from "./Files.js"
import type { FileWrite, makeFileWrites } from "./FileWrites.js"
import type { KnownTrees } from "./KnownTrees.js"
import type { ObjectCache } from "./ObjectCache.js"
import type { Told, Writable } from "./Told.js"

interface Parts {
  readonly client: Client
  readonly cache: ObjectCache
  readonly known: KnownTrees
  readonly branches: Branches
  readonly files: Files
  readonly writeFile: ReturnType<typeof makeFileWrites>
  readonly told: Told
  readonly writable: Writable
  readonly exclusively: Exclusively
}

/** Single files by the Contents API, remembered as what they make of their branch. */
export const makeSingleFile = ({
  branches,
  cache,
  client,
  exclusively,
  files,
  known,
  told,
  writable,
  writeFile
}: Parts): SingleFile => {
  const remember = (write: FileWrite, made: FileCommitted) =>
    Effect.gen(function* () {
      const before = branches.remembered(write.branch)
      const parent = before !== undefined && Option.isSome(before) ? before.value : undefined
      if (Option.isSome(write.content) && Option.isSome(made.blob)) {
        cache.putBlob(made.blob.value, write.content.value)
      }
      files.forgetFile(write.branch, write.path)
      yield* branches.wroteFile(write.branch, write.path, write.expected, made.blob)
      yield* branches.wrote(write.branch, Option.fromNullable(made.parents?.[0] ?? parent?.commit), made)
      if (Option.isNone(made.tree)) return
      const change: Change = Option.match(write.content, {
        onNone: () => ({ _tag: "Remove", path: write.path }),
        onSome: (content) => ({ _tag: "Put", path: write.path, content })
      })
      known.derive(
        parent !== undefined && parent.commit === made.parents?.[0] ? parent : undefined,
        [change],
        { commit: made.commit, tree: made.tree.value }
      )
    })

  const run = (name: string, write: FileWrite): ReturnType<SingleFile["put"]> =>
    writable(name, write.branch, write.path).pipe(
      Effect.zipRight(writeFile(write)),
      branches.careful(write.branch),
      Effect.tap((made) => remember(write, made)),
      exclusively(write.branch),
      told(name, write.path)
    )

  return {
    exclusively,
    maxBytes: client.settings.contentsMaxBytes,
    put: (branch, path, content, expected, text) =>
      Effect.suspend(() =>
        run("singleFile.put", {
          operation: "GitRemote.singleFile.put",
          branch,
          path,
          content: Option.some(content.slice()),
          expected,
          text
        })
      ),
    delete: (branch, path, expected, text) =>
      run("singleFile.delete", {
        operation: "GitRemote.singleFile.delete",
        branch,
        path,
        content: Option.none(),
        expected: Option.some(expected),
        text
      })
  }
}
