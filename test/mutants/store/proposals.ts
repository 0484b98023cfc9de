import { mutant } from "../bundled.js"

const text = "store/internal/proposal/ProposalText.ts"
const reading = "store/internal/proposal/ProposalReading.ts"
const acceptance = "store/internal/proposal/Proposals.ts"
const drafts = "store/internal/proposal/Drafts.ts"

const reasons = "The reasons, in Markdown; may be empty."

/** Faults of proposals. */
export const proposals = [
  mutant("a body has one paragraph", reasons, [
    text,
    'body: paragraphs.slice(1, -1).join("\\n\\n")',
    'body: paragraphs.length > 2 ? paragraphs[1]! : ""'
  ]),
  mutant("a proposal has one label", "Labels, as they were given.", [
    text,
    'labels: values.get("-Label") ?? []',
    'labels: values.get("-Label")?.slice(0, 1) ?? []'
  ]),
  mutant("proposals are listed newest first", "The proposals of the repository, oldest first.", [
    reading,
    "compareCodePoints(a.id, b.id)",
    "compareCodePoints(b.id, a.id)"
  ]),
  mutant(
    "an accepted proposal changes nothing",
    "The documents that it changes or, if it is accepted, has changed.",
    [reading, "onSome: ({ parents }) => parents[0]! })", "onSome: () => into })"]
  ),
  mutant(
    "an accepted proposal is at the commit that marks it",
    "The head of the branch; of an accepted proposal, the commit that was merged.",
    [reading, "commitSha: isAccepted ? content : head", "commitSha: head"]
  ),
  mutant("an author of a proposal has no address", "`Name <email>`", [
    reading,
    "author: text.author ?? `${info.author.name} <${info.author.email}>`",
    "author: text.author ?? info.author.name"
  ]),
  mutant("all proposals are listed", 'open proposals; { state: "accepted" }, "closed", "all"', [
    reading,
    'state === "all" || one.state === state',
    'state !== "closed" || one.state === state'
  ]),
  mutant("accept ignores commitSha", "the proposal is not accepted if its head is another one", [
    acceptance,
    "if (commitSha !== undefined && commitSha !== head)",
    "if (commitSha !== undefined && commitSha === id)"
  ]),
  mutant(
    "edits that write nothing are a proposal",
    "Edits that fail, are interrupted or write nothing leave no proposal.",
    [drafts, "    if (last === undefined) {\n", '    if (last === undefined && branch === "") {\n'],
    [drafts, "yield* finish(last, keep) }", "yield* finish(last!, keep) }"]
  ),
  mutant(
    "interrupted accept never ends",
    "after an interrupted `accept` it can be changed again when the store's `deadline` has passed",
    [
      "store/internal/proposal/ProposalMarks.ts",
      "if (age < Duration.toMillis(core.options.deadline)) return",
      "if (age >= 0) return"
    ]
  ),
  mutant("preview of a fast-forward", "It always makes a merge commit.", [
    acceptance,
    "{ ...options, into, fastForward: false, dryRun: true }",
    "{ ...options, into, dryRun: true }"
  ]),
  mutant("accepted proposal changes nothing", "the documents that it changes", [
    reading,
    'state === "accepted" ? yield* remote.head(into) : Option.none()',
    "Option.none<Head>()"
  ]),
  mutant(
    "accept takes edits that nobody reviewed",
    "it has moved since `commitSha`, or while it was accepted",
    [
      "store/internal/proposal/ProposalMarks.ts",
      "now.commit === head ? Effect.void : proposalMoved",
      "now.commit !== mark ? Effect.void : proposalMoved"
    ]
  ),
  mutant("close does not look again", "only one of an `accept` and a `close` succeeds", [
    acceptance,
    "commitMark(core, operation, branch, text, checkOpen(operation, found))",
    "commitMark(core, operation, branch, text)"
  ]),
  mutant("a deleted target opens what it accepted", "records this in case the target is deleted", [
    reading,
    "(isMarked && Option.isNone(target)) ||",
    "(isMarked && content === head) ||"
  ]),
  mutant("a failed accept does not reopen the proposal", "If the merge fails, the proposal is reopened", [
    "store/internal/proposal/Proposals.ts",
    "        Effect.tapError(undo),\n",
    ""
  ]),
  mutant(
    "an accept with a message has no trailers",
    "`Chainstore-Proposal: <id>` and `Chainstore-Proposal-State: accepted`",
    [
      "store/internal/proposal/Proposals.ts",
      "const text = acceptedMessage(found, message)",
      "const text = message ?? acceptedMessage(found, message)"
    ]
  )
]
