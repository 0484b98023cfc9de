import { Args, Options } from "@effect/cli"
import { Effect, Option } from "effect"
import { ConflictError } from "../domain/errors/StoreError.js"
import type { Merged } from "../store/Branches.js"
import { Store } from "../store/Store.js"
import { dryRunOption, messageOption, textOption } from "./CommandOptions.js"
import { jsonOption, print } from "./CommandOutput.js"
import { storeCommand } from "./StoreCommand.js"

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

const sentence = ({ commitSha, documents, files, kind }: Merged, from: string): string => {
  const changes = `${counted(documents.length, "document")} and ${counted(files.length, "other file")} changed`
  const at = Option.match(commitSha, { onNone: () => "", onSome: (sha) => ` in ${sha.slice(0, 7)}` })
  if (kind === "upToDate") return `${from} is merged already.`
  return Option.isNone(commitSha)
    ? `${from} would be merged${kind === "fastForward" ? " by a fast-forward" : ""}: ${changes}.`
    : `${from} is merged${at}${kind === "fastForward" ? " by a fast-forward" : ""}: ${changes}.`
}

const hasBlockingConflicts = ({ conflicts }: Merged, dryRun: boolean) => dryRun && conflicts.length > 0

/** Formats the result of a merge or of a dry run. */
export const mergedLines = (merged: Merged, from: string, dryRun: boolean): string =>
  [
    hasBlockingConflicts(merged, dryRun)
      ? `${from} does not merge without conflicts: ${counted(merged.conflicts.length, "conflict")}.`
      : sentence(merged, from),
    ...merged.documents.map(({ collection, id, kind }) => `  ${kind} ${collection}/${id}`),
    ...merged.files.map((path) => `  ${path}`),
    ...merged.conflicts.map(({ problem }) => `  ${dryRun ? "conflict" : "decided"}: ${problem}`)
  ].join("\n")

/** Fails if a dry run has found conflicts. */
export const failOnConflicts = (operation: string, merged: Merged, from: string, dryRun: boolean) =>
  hasBlockingConflicts(merged, dryRun)
    ? Effect.fail(
        new ConflictError({
          operation,
          message: `${from} does not merge without conflicts: ${counted(merged.conflicts.length, "conflict")}`,
          hint: "change one of the branches, or give --on-conflict",
          conflicts: [],
          unmerged: merged.conflicts
        })
      )
    : Effect.void

export const merge = storeCommand(
  "merge",
  "Merge a branch: documents by their fields, as one commit with both parents.",
  {
    from: Args.text({ name: "from" }).pipe(Args.withDescription("The branch, tag or commit that is merged")),
    into: textOption("into", "Merge into this branch instead of --branch"),
    onConflict: Options.choice("on-conflict", ["fail", "ours", "theirs"]).pipe(
      Options.withDescription("For conflicting changes: fail, or take the value of one side"),
      Options.withDefault("fail")
    ),
    noFastForward: Options.boolean("no-fast-forward").pipe(
      Options.withDescription("Make a merge commit even if a fast-forward is possible")
    ),
    message: messageOption("The message of the merge commit"),
    dryRun: dryRunOption("Show what would be merged and every conflict, and write nothing"),
    json: jsonOption
  },
  ({ dryRun, from, into, json, message, noFastForward, onConflict }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const merged = yield* store.merge(from, {
        into: Option.getOrUndefined(into),
        message: Option.getOrUndefined(message),
        onConflict,
        fastForward: !noFastForward,
        dryRun
      })
      yield* print(json, { ...merged, commitSha: Option.getOrNull(merged.commitSha) }, () =>
        mergedLines(merged, from, dryRun)
      )
      yield* failOnConflicts("merge", merged, from, dryRun)
    })
)
