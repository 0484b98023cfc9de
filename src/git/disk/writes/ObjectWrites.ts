import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { encodeCommit } from "../../GitObject.js"
import { directoryAt } from "../../TreeReading.js"
import { attempt, attemptPromise } from "../files/EngineError.js"
import type { NativeReads } from "../objects/NativeReads.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import { rewriteTree } from "../packs/TreeRewriter.js"
import type { GitRepository } from "../port/GitRepository.js"
import type { CommitDrafts } from "./CommitDrafts.js"

export interface ObjectWritesOptions {
  readonly directory: string
  readonly objects: ObjectDatabase
  readonly native: NativeReads
  readonly drafts: CommitDrafts
  readonly durable: boolean
  /** Waits until objects are no longer staged in this process. */
  readonly settled: (...oids: ReadonlyArray<Oid>) => Effect.Effect<void>
  /** Runs after each write, to start due maintenance. */
  readonly written: Effect.Effect<void>
}

/** The methods that write single objects, without the commit queue. */
export const make = ({
  directory,
  drafts,
  durable,
  native,
  objects,
  settled,
  written
}: ObjectWritesOptions): Pick<
  GitRepository,
  "writeObject" | "writeBlob" | "writeCommit" | "writeTree" | "treeAfter"
> => ({
  writeObject: (type, content) =>
    Effect.zipLeft(
      attemptPromise("GitRepository.writeObject", directory, () =>
        objects.files.loose.write(type, content, durable)
      ),
      written
    ),

  writeBlob: (size, pieces) => {
    const operation = "GitRepository.writeBlob"
    return Effect.acquireUseRelease(
      attempt(operation, directory, () => objects.files.loose.writer("blob", size)),
      (writer) =>
        Stream.runForEach(pieces, (piece) =>
          attemptPromise(operation, directory, () => writer.write(piece))
        ).pipe(
          Effect.zipRight(
            attemptPromise(operation, directory, () => objects.files.loose.finish(writer, durable))
          )
        ),
      (writer) => Effect.promise(() => writer.close())
    ).pipe(Effect.zipLeft(written))
  },

  writeCommit: (commit) =>
    Effect.zipLeft(
      attemptPromise("GitRepository.writeCommit", directory, () =>
        objects.files.loose.write("commit", encodeCommit(commit), durable)
      ),
      written
    ),

  writeTree: (base, changes) =>
    Effect.gen(function* () {
      const operation = "GitRepository.writeTree"
      yield* settled(...Option.toArray(base), ...changes.flatMap(({ oid }) => Option.toArray(oid)))
      const rewritten = yield* native.runStepsChecked(operation, function* () {
        objects.files.rescan()
        for (const change of changes) {
          if (Option.isSome(change.oid))
            drafts.checkTarget(operation, change.path, change.oid.value, change.mode)
        }
        return yield* rewriteTree(
          objects,
          Option.getOrUndefined(Option.map(base, native.storedRootOf)),
          changes.map(({ mode, oid, path: at }) => ({ path: at, mode, oid: Option.getOrUndefined(oid) })),
          { operation, removesDirectories: true }
        )
      })
      yield* attemptPromise(operation, directory, async () => {
        for (const { tree } of rewritten.trees) await objects.files.loose.write("tree", tree.bytes, durable)
      })
      yield* written
      return rewritten.root
    }),

  treeAfter: (base, path, changes) =>
    Effect.gen(function* () {
      const operation = "GitRepository.treeAfter"
      const { edits } = yield* drafts.editsOf(operation, changes, false)
      return yield* native.runStepsChecked(operation, function* () {
        const root = Option.getOrUndefined(Option.map(base, native.rootOf))
        const rewritten = yield* rewriteTree(objects, root, edits, { operation, removesDirectories: false })
        const fresh = new Map(rewritten.trees.map(({ oid, tree }) => [oid, tree]))
        const load = (oid: Oid) => fresh.get(oid) ?? objects.tree(oid)
        return Option.fromNullable(
          directoryAt((tree, name) => load(tree).entryNamed(name), rewritten.root, path)
        )
      })
    })
})
