import * as Effect from "effect/Effect"
import { useState } from "preact/hooks"
import type { EditReview } from "../../../store/browse/StagedEdits.js"
import { alarm, announce } from "../../components/Announcer.js"
import { plural } from "../../components/Plural.js"
import type { Problem } from "../../components/Problem.js"
import { useEffectRunner } from "../../components/useEffectRunner.js"
import * as Drafts from "../../drafts/Drafts.js"
import type { DataSourceService } from "../../source/DataSource.js"
import { isBlocking, nameOf, type Review } from "./useReview.js"

/** What a person enters in the publish form. */
interface PublishInput {
  readonly message: string
  readonly description: string
  readonly isProposal: boolean
  /** Whether a proposal was sent and its reply was not seen. */
  readonly mayBeProposed: boolean
}

const emptyInput: PublishInput = { message: "", description: "", isProposal: false, mayBeProposed: false }

/** The input by the prefix of the drafts. It is kept while another panel is open. */
const keptInputs = new Map<string, PublishInput>()

/** The result of publishing. */
export type Published =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Commit"; readonly commit: string }
  | { readonly _tag: "Proposal"; readonly title: string }

const nothing: Published = { _tag: "Nothing" }

export const nothingPublished = "Everything was already published. Nothing was written."

const announcementOf = (published: Published, drafts: number): string => {
  switch (published._tag) {
    case "Nothing":
      return nothingPublished
    case "Commit":
      return `${plural(drafts, "draft")} published as commit ${published.commit.slice(0, 7)}.`
    case "Proposal":
      return `${plural(drafts, "draft")} proposed as ${published.title}.`
  }
}

/** The publish form's input, and publishing the reviewed drafts as one commit or as a proposal. */
export const usePublish = (options: {
  readonly source: DataSourceService
  readonly prefix: string
  readonly review: Review
  /** Called when a publish has ended, with conflicts or without. */
  readonly onEnd: () => void
  readonly onPublished: () => void
}) => {
  const { prefix, review, source } = options
  const { drafts } = review
  const [input, setInput] = useState(keptInputs.get(prefix) ?? emptyInput)
  const [published, setPublished] = useState<Published | undefined>(undefined)
  const publishing = useEffectRunner()

  const change = (part: Partial<PublishInput>) => {
    const next = { ...emptyInput, ...keptInputs.get(prefix), ...part }
    keptInputs.set(prefix, next)
    setInput(next)
  }

  const defaultMessage =
    drafts.length === 1 ? `edit ${nameOf(drafts[0]!)}` : `edit ${plural(drafts.length, "document")}`

  const publish = () => {
    const sent = drafts
    // A page that the browser froze did not receive the storage events of other tabs.
    const now = Drafts.list(prefix)
    if (now.length !== sent.length || now.some(({ stamp }, at) => stamp !== sent[at]?.stamp)) {
      alarm("The drafts were changed in another tab. Review them again.")
      return review.refresh()
    }
    const edits = sent.map(Drafts.toStagedEdit)
    const message = input.message.trim() || defaultMessage
    const writing = Effect.flatMap(
      source.edits,
      (calls): Effect.Effect<{ readonly edits: EditReview["edits"]; readonly result: Published }, Problem> =>
        input.isProposal
          ? Effect.map(calls.propose(edits, message, input.description.trim()), ({ edits, proposal }) => ({
              edits,
              result: proposal === null ? nothing : { _tag: "Proposal", title: proposal.title }
            }))
          : Effect.map(calls.publish(edits, message), ({ commit, edits }) => ({
              edits,
              result: commit === null ? nothing : { _tag: "Commit", commit }
            }))
    )
    if (input.isProposal) change({ mayBeProposed: true })
    publishing.run(writing, {
      success: ({ edits, result }) => {
        change({ mayBeProposed: false })
        if (edits.some(isBlocking)) {
          review.showConflicts(edits, sent)
          announce(
            "Nothing was published: documents were changed in the meantime. Resolve the conflicts first."
          )
          return options.onEnd()
        }
        Drafts.discard(prefix, ...sent)
        change(emptyInput)
        setPublished(result)
        announce(announcementOf(result, sent.length))
        options.onEnd()
        options.onPublished()
      }
    })
  }

  /** Prepares the same drafts as a proposal. */
  const proposeInstead = () => {
    publishing.reset()
    change({ isProposal: true })
  }

  return {
    input,
    change,
    proposeInstead,
    defaultMessage,
    publish,
    published,
    running: publishing.running,
    problem: publishing.problem
  }
}

export type Publish = ReturnType<typeof usePublish>
