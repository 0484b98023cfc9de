import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { NotFoundError, ValidationError } from "../../../domain/errors/StoreError.js"
import { under } from "../../DocumentPath.js"
import type { StoreService } from "../../StoreService.js"
import type { DocumentOperation } from "../commit/DocumentEdit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { pastVersion } from "../commit/VersionCodec.js"
import { type ChangedDocument, changesBetween, versionsAt } from "./ChangedDocuments.js"
import { requireCommit } from "./Restore.js"

/** Reverts over a core: one new commit restores the documents that a commit changed to their versions before it. */
export const makeRevert =
  (core: StoreCore): StoreService["revert"] =>
  (commitSha, options = {}) =>
    Effect.gen(function* () {
      const operation = "Store.revert"
      const below = under(core.options.root, "")
      const commit = yield* requireCommit(core, operation, commitSha, {
        files: [],
        directories: [],
        changedFiles: (path) => path.startsWith(below) && path.endsWith(".json")
      })
      const short = commit.commit.slice(0, 7)
      const info = yield* Effect.flatMap(core.remote.commitInfo(commit.commit), (found) =>
        Option.isSome(found) ? Effect.succeed(found.value) : missingCommit(operation, commit.commit)
      )
      const first = info.parents[0]
      if (first === undefined) {
        return yield* new ValidationError({
          operation,
          message: `${short} is the first commit of its history: there is nothing before it to go back to`,
          hint: "delete the documents instead"
        })
      }
      const parent = yield* Effect.flatMap(core.remote.resolve(first), (found) =>
        Option.isSome(found) ? Effect.succeed(found.value) : missingCommit(operation, first)
      )
      const { documents, others } = yield* changesBetween(core, Option.some(parent), commit)
      const versions = yield* versionsAt(
        core,
        parent,
        documents.flatMap(({ before }) => before ?? [])
      )
      const pastOf = ({ before }: ChangedDocument) =>
        before === undefined ? undefined : versions.get(before.path)
      const isReadable = (document: ChangedDocument) => {
        const past = pastOf(document)
        return past === undefined || Option.isSome(past.document)
      }
      const otherPaths = new Set(others)
      // Files that are not documents are left alone, also where one took the path of a document.
      const isReplaced = ({ after, before }: ChangedDocument) =>
        before !== undefined && after === undefined && otherPaths.has(before.path)
      const isReverted = (document: ChangedDocument) => isReadable(document) && !isReplaced(document)
      const reverted = documents.filter(isReverted)
      const skipped = [
        ...new Set([
          ...others,
          ...documents.filter((document) => !isReverted(document)).map(({ before }) => before!.path)
        ])
      ].sort()
      const preconditions = reverted.map(({ after, collection, id }) => ({
        collection,
        id,
        precondition: after === undefined ? { absent: true } : { sha: after.oid }
      }))
      const operations = reverted.map((changed): DocumentOperation => {
        const next = Effect.succeed(pastVersion(pastOf(changed)))
        return { collection: changed.collection, id: changed.id, needs: "any", next: () => next }
      })
      const outcome =
        operations.length === 0
          ? undefined
          : yield* core.write({
              operation,
              message: options.message ?? `revert ${short}`,
              mode: "document",
              operations,
              preconditions: options.force === true ? [] : preconditions
            })
      if (outcome === undefined || Option.isNone(outcome.committed)) {
        return yield* new ValidationError({
          operation,
          message: `${short} left no document changed: there is nothing to revert`,
          issues: skipped.map((path) => ({ path, message: "is not a document of the store" }))
        })
      }
      return {
        commitSha: outcome.committed.value.commit,
        documents: outcome.documents
          .filter(({ after, before }) => Option.isSome(after) || Option.isSome(before))
          .map(({ collection, id }) => ({ collection, id })),
        skipped
      }
    })

const missingCommit = (operation: string, sha: string) =>
  new NotFoundError({ operation, message: `the commit ${sha} is not in the repository` })
