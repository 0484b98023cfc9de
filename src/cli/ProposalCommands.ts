import { Args, Options } from "@effect/cli"
import { Effect, Option, Stream } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"
import type { Draft, Proposal } from "../store/Proposals.js"
import { Store } from "../store/Store.js"
import { comparedLines, withFields } from "./BranchCommands.js"
import { failOnConflicts, mergedLines } from "./BranchMergeCommand.js"
import { dryRunOption, messageOption, rejectCombination, textOption } from "./CommandOptions.js"
import { jsonOption, print, table } from "./CommandOutput.js"
import { contentOptions, documentIn, textOf } from "./PutCommand.js"
import { storeCommand } from "./StoreCommand.js"

const headline = ({ id, into, number, state, title }: Proposal) =>
  `${id}${number === undefined ? "" : ` (#${number})`} ${state}: ${title}, for ${into}`

export const propose = storeCommand(
  "propose",
  "Propose a document, its deletion, or a change of it, without writing to the branch.",
  {
    ...contentOptions,
    remove: Options.boolean("delete").pipe(Options.withDescription("Propose to delete the document")),
    title: textOption("title", "The title of the proposal"),
    body: textOption("body", "The description of the proposal"),
    into: textOption("into", "The target branch, instead of --branch"),
    labels: Options.text("label").pipe(
      Options.withDescription("A label; may be given several times"),
      Options.repeated
    ),
    to: textOption("to", "Add the edit to this proposal instead of creating one"),
    json: jsonOption
  },
  ({ body, collection, data, file, id, into, json, labels, merge, remove, title, to }) =>
    Effect.gen(function* () {
      const store = yield* Store
      if (remove) {
        yield* rejectCombination("propose", "--delete", {
          "--merge": merge,
          "--data": Option.isSome(data),
          "a file": Option.isSome(file)
        })
      }
      const document = remove ? undefined : yield* Effect.flatMap(textOf(data, file), documentIn)
      const edits = (draft: Draft) => {
        const documents = draft.collection(collection)
        if (document === undefined) return Effect.asVoid(documents.delete(id))
        if (merge) return Effect.asVoid(documents.upsert(id, document))
        return documents.replace(id, document).pipe(
          Effect.asVoid,
          Effect.catchTag("NotFoundError", () => Effect.asVoid(documents.insert(document, { id })))
        )
      }
      if (Option.isSome(to)) {
        yield* rejectCombination("propose", "--to", {
          "--title": Option.isSome(title),
          "--body": Option.isSome(body),
          "--into": Option.isSome(into),
          "--label": labels.length > 0
        })
      } else if (Option.isNone(title)) {
        return yield* new ValidationError({
          operation: "propose",
          message: "--title is missing",
          hint: 'chainstore propose COLLECTION ID --title "What is proposed"'
        })
      }
      const { proposal } = Option.isSome(to)
        ? yield* store.proposal(to.value).update(edits)
        : yield* store.propose(
            {
              title: Option.getOrElse(title, () => ""),
              body: Option.getOrUndefined(body),
              into: Option.getOrUndefined(into),
              labels
            },
            edits
          )
      yield* print(json, proposal, () => headline(proposal))
    })
)

export const proposals = storeCommand(
  "proposals",
  "List the proposals, show one, or accept, rebase or close it.",
  {
    id: Args.text({ name: "id" }).pipe(Args.withDescription("The id of a proposal"), Args.optional),
    state: Options.choice("state", ["open", "accepted", "closed", "all"]).pipe(
      Options.withDescription("Which proposals are listed"),
      Options.withDefault("open")
    ),
    accept: Options.boolean("accept").pipe(Options.withDescription("Merge the proposal")),
    rebase: Options.boolean("rebase").pipe(
      Options.withDescription("Merge its target branch into the proposal")
    ),
    close: Options.boolean("close").pipe(Options.withDescription("Close it without merging")),
    onConflict: Options.choice("on-conflict", ["fail", "ours", "theirs"]).pipe(
      Options.withDescription("For conflicting changes: fail, or take the value of one side"),
      Options.withDefault("fail")
    ),
    message: messageOption("The message of the merge commit"),
    dryRun: dryRunOption("With --accept: show what would be merged and every conflict, and write nothing"),
    json: jsonOption
  },
  ({ accept, close, dryRun, id, json, message, onConflict, rebase, state }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const asked = [accept, rebase, close].filter((one) => one).length
      if (Option.isNone(id)) {
        if (asked > 0) {
          return yield* new ValidationError({
            operation: "proposals",
            message: "--accept, --rebase and --close need the id of a proposal",
            hint: "chainstore proposals ID --accept"
          })
        }
        const all = yield* store.proposals({ state })
        return yield* print(json, all, (columns) =>
          all.length === 0
            ? "There are no such proposals."
            : table(
                ["id", "state", "into", "title"],
                all.map((one) => [one.id, one.state, one.into, one.title]),
                columns
              )
        )
      }
      if (asked > 1) {
        return yield* new ValidationError({
          operation: "proposals",
          message: "--accept, --rebase and --close cannot be given together"
        })
      }
      const proposal = store.proposal(id.value)
      if (close) {
        const closed = yield* proposal.close()
        return yield* print(json, closed, () => headline(closed))
      }
      if (accept || rebase) {
        const options = { onConflict, message: Option.getOrUndefined(message) }
        const isDry = accept && dryRun
        const merged = isDry
          ? yield* proposal.preview(options)
          : accept
            ? yield* proposal.accept(options)
            : yield* proposal.rebase(options)
        const name = accept ? `the proposal ${id.value}` : "the target"
        yield* print(json, { ...merged, commitSha: Option.getOrNull(merged.commitSha) }, () =>
          mergedLines(merged, name, isDry)
        )
        return yield* failOnConflicts("proposals", merged, name, isDry)
      }
      const found = yield* proposal.get()
      const documents = Array.from(yield* Stream.runCollect(withFields(proposal.compare())))
      yield* print(json, { ...found, documents }, () =>
        [headline(found), ...(found.body === "" ? [] : ["", found.body]), "", comparedLines(documents)].join(
          "\n"
        )
      )
    })
)
