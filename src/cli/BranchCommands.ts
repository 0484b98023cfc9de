import { Args, Options } from "@effect/cli"
import { Effect, Option, Stream } from "effect"
import { NotFoundError, ValidationError } from "../domain/errors/StoreError.js"
import type { DocumentDifference } from "../store/Branches.js"
import { differences } from "../store/browse/index.js"
import { Store } from "../store/Store.js"
import { textOption } from "./CommandOptions.js"
import { jsonOption, print, table } from "./CommandOutput.js"
import { differenceLines } from "./ReadCommands.js"
import { storeCommand } from "./StoreCommand.js"

const shown = 7

export const branch = storeCommand(
  "branch",
  "List the branches, or create or delete one.",
  {
    name: Args.text({ name: "name" }).pipe(
      Args.withDescription("The branch to create or delete"),
      Args.optional
    ),
    from: textOption("from", "Create it at this branch, tag or commit instead of --branch"),
    remove: Options.boolean("delete").pipe(Options.withDescription("Delete the branch")),
    json: jsonOption
  },
  ({ from, json, name, remove }) =>
    Effect.gen(function* () {
      const store = yield* Store
      if (Option.isNone(name)) {
        if (remove || Option.isSome(from)) {
          return yield* new ValidationError({
            operation: "branch",
            message: `${remove ? "--delete" : "--from"} needs the name of a branch`,
            hint: "chainstore branch NAME"
          })
        }
        const branches = yield* store.branches
        return yield* print(json, branches, (columns) =>
          branches.length === 0
            ? "There are no branches yet."
            : table(
                ["branch", "commit"],
                branches.map(({ commitSha, name }) => [name, commitSha.slice(0, shown)]),
                columns
              )
        )
      }
      if (remove) {
        const branches = yield* store.branches
        if (!branches.some((existing) => existing.name === name.value)) {
          return yield* new NotFoundError({
            operation: "branch",
            message: `there is no branch ${name.value}`,
            hint: `there are ${branches.map((existing) => existing.name).join(", ")}`
          })
        }
        yield* store.deleteBranch(name.value)
        return yield* print(json, { deleted: name.value }, () => `${name.value} is deleted.`)
      }
      const commitSha = yield* store.createBranch(name.value, { from: Option.getOrUndefined(from) })
      yield* print(
        json,
        { name: name.value, commitSha },
        () => `${name.value} begins at ${commitSha.slice(0, shown)}.`
      )
    })
)

/** Adds the fields that differ to each document. */
export const withFields = <E>(differing: Stream.Stream<DocumentDifference, E>) =>
  Stream.mapEffect(differing, ({ after, before, ...document }) =>
    Effect.map(Effect.all([before, after]), ([was, is]) => ({
      ...document,
      fields: differences(Option.getOrNull(was), Option.getOrNull(is))
    }))
  )

type ComparedDocument = Stream.Stream.Success<ReturnType<typeof withFields>>

/** Formats the documents that differ, one line per document and field. */
export const comparedLines = (documents: ReadonlyArray<ComparedDocument>): string =>
  documents.length === 0
    ? "No document differs."
    : documents
        .flatMap(({ collection, fields, id, kind }) => [
          `${kind} ${collection}/${id}`,
          ...(kind === "changed"
            ? differenceLines(fields)
                .split("\n")
                .map((line) => `  ${line}`)
            : [])
        ])
        .join("\n")

const revisionArgument = (name: string, description: string) =>
  Args.text({ name }).pipe(Args.withDescription(description))

export const compare = storeCommand(
  "compare",
  "Show the documents that differ between two branches, tags or commits.",
  {
    a: revisionArgument("a", "A branch, tag or commit"),
    b: revisionArgument("b", "The branch, tag or commit whose changes are shown"),
    against: Options.choice("against", ["mergeBase", "first"]).pipe(
      Options.withDescription("Compare B with its merge base with A (mergeBase), or with A itself (first)"),
      Options.withDefault("mergeBase")
    ),
    json: jsonOption
  },
  ({ a, against, b, json }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const documents = Array.from(yield* Stream.runCollect(withFields(store.compare(a, b, { against }))))
      yield* print(json, documents, () => comparedLines(documents))
    })
)
