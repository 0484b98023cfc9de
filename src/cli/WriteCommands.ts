import { Args, Options } from "@effect/cli"
import { Effect, Option } from "effect"
import { Store } from "../store/Store.js"
import type { StoreService } from "../store/StoreService.js"
import { collectionArgument, idArgument, rejectCombination } from "./CommandOptions.js"
import { print } from "./CommandOutput.js"
import { printPreview } from "./CommitPreview.js"
import {
  conditionOptions,
  expectedOptions,
  previewChanges,
  writeIfSha,
  writeOptions
} from "./ConditionalWrite.js"
import { differenceLines, documentOf } from "./ReadCommands.js"
import { storeCommand } from "./StoreCommand.js"

export const remove = storeCommand(
  "delete",
  "Delete a document; its history is kept.",
  {
    collection: collectionArgument,
    id: idArgument,
    ...expectedOptions,
    ...writeOptions
  },
  ({ collection, dryRun, expectedRev, expectedSha, id, json, message }) =>
    Effect.gen(function* () {
      if (Option.isSome(expectedSha)) {
        yield* rejectCombination("delete", "--expected-sha", { "--expected-rev": Option.isSome(expectedRev) })
      }
      const store = yield* Store
      const options = conditionOptions(message, expectedRev)
      const write = (from: StoreService) =>
        Option.match(expectedSha, {
          onNone: () => from.collection(collection).delete(id, options),
          onSome: (sha) =>
            Effect.asVoid(
              writeIfSha(
                from,
                { collection, id, sha },
                options.message ?? `delete ${collection}/${id}`,
                (batch) => batch.delete(collection, id)
              )
            )
        })
      if (dryRun) {
        yield* store.preview(write)
        const stored = yield* documentOf(store, collection, id)
        return yield* print(
          json,
          stored,
          () => `${collection}/${id} at revision ${stored._rev} would be deleted.`
        )
      }
      yield* write(store)
      yield* print(json, { deleted: id }, () => `${collection}/${id} is deleted.`)
    })
)

const commitArgument = Args.text({ name: "commit" }).pipe(Args.withDescription("A commit's id"))

export const restore = storeCommand(
  "restore",
  "Restore an earlier version of a document in a new commit.",
  {
    collection: collectionArgument,
    id: idArgument,
    commit: commitArgument,
    ...writeOptions
  },
  ({ collection, commit, dryRun, id, json, message }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const write = (into: StoreService) =>
        into.collection(collection).restore(id, commit, { message: Option.getOrUndefined(message) })
      if (dryRun) {
        const found = yield* previewChanges(collection, id, write)
        return yield* print(json, found, () => differenceLines(found))
      }
      const restored = yield* write(store)
      yield* print(json, restored, () => `${collection}/${id} is at revision ${restored._rev}.`)
    })
)

export const revert = storeCommand(
  "revert",
  "Revert a commit by a new commit.",
  {
    commit: commitArgument,
    force: Options.boolean("force").pipe(
      Options.withDescription("Also revert documents that changed again later")
    ),
    ...writeOptions
  },
  ({ commit, dryRun, force, json, message }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const options = { force, message: Option.getOrUndefined(message) }
      if (dryRun) return yield* printPreview(json, yield* store.preview((dry) => dry.revert(commit, options)))
      const reverted = yield* store.revert(commit, options)
      yield* print(json, reverted, () =>
        [
          `${reverted.documents.length} documents are reverted in commit ${reverted.commitSha.slice(0, 10)}.`,
          ...reverted.skipped.map((path) => `not reverted: ${path}`)
        ].join("\n")
      )
    })
)
