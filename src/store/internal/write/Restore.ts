import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StoredDocument } from "../../../domain/document/Document.js"
import { NotFoundError } from "../../../domain/errors/StoreError.js"
import { settingsFileName } from "../../../domain/settings/Settings.js"
import type { ReadError, RestoreOptions, WriteError } from "../../Collection.js"
import { documentPath, under } from "../../DocumentPath.js"
import type { Head, PrefetchRequest } from "../../remote/GitRemote.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { pastVersion, readVersion, unreadableError } from "../commit/VersionCodec.js"
import { makeSnapshot } from "../snapshot/Snapshot.js"
import { checkNames } from "./OperationQueue.js"

/** Resolves a commit and prefetches its files; fails if the commit is missing. */
export const requireCommit = (
  core: StoreCore,
  operation: string,
  name: string,
  wants?: PrefetchRequest
): Effect.Effect<Head, ReadError> =>
  Effect.gen(function* () {
    const snapshot = core.remote.snapshotAt(name)
    if (wants !== undefined) yield* snapshot.prefetch(() => wants)
    return yield* Option.match(yield* snapshot.head, {
      onSome: Effect.succeed,
      onNone: () =>
        new NotFoundError({
          operation,
          message: `${core.remote.name} has no commit ${name}`,
          hint: "history lists the commits of a document"
        })
    })
  })

const expectationOf = ({ expectedRev }: RestoreOptions) =>
  expectedRev === undefined
    ? undefined
    : expectedRev === null
      ? { absent: true as const }
      : { rev: expectedRev }

/** Restores the version of a document at a commit, unchanged, in a new commit. */
export const restoreDocument = (
  core: StoreCore,
  collection: string,
  id: string,
  commitSha: string,
  options: RestoreOptions = {}
): Effect.Effect<StoredDocument, WriteError> =>
  Effect.gen(function* () {
    const operation = "Collection.restore"
    const problem = checkNames(operation, collection, id)
    if (problem !== undefined) return yield* problem
    const { root } = core.options
    const guessed = documentPath(root, core.repository.lastRead().settings, collection, id)
    const snapshot = makeSnapshot(core.remote.snapshotAt(commitSha))
    yield* snapshot.prefetch(() => ({ files: [under(root, settingsFileName), guessed], directories: [root] }))
    const { settings } = yield* core.repository.at(snapshot)
    const path = documentPath(root, settings, collection, id)
    const file = yield* snapshot.file(path)
    const commit = snapshot.known()?.commit ?? commitSha
    if (Option.isNone(file) && snapshot.known() === undefined)
      yield* requireCommit(core, operation, commitSha)
    if (Option.isNone(file)) {
      return yield* new NotFoundError({
        operation,
        path,
        collection,
        id,
        message: `${collection}/${id} is not in commit ${commit.slice(0, 7)}`,
        hint: "restore takes a commit in which the document exists"
      })
    }
    const past = yield* readVersion(path, file.value)
    if (Option.isNone(past.document)) {
      return yield* unreadableError(
        { operation, collection, id, path },
        past.problem ?? "contains no document"
      )
    }
    const next = Effect.succeed(pastVersion(past))
    const outcome = yield* core.write({
      operation,
      message: options.message ?? `restore ${collection}/${id} from ${commit.slice(0, 7)}`,
      mode: "document",
      operations: [
        {
          collection,
          id,
          needs: "any",
          precondition: expectationOf(options),
          next: () => next
        }
      ]
    })
    return Option.getOrThrow(outcome.documents[0]!.after).document
  })
