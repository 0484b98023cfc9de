import { useRef } from "preact/hooks"
import type { EditReview } from "../../../store/browse/StagedEdits.js"
import { plural } from "../../components/Plural.js"
import { ProblemCard } from "../../components/ProblemCard.js"
import { RunButton } from "../../components/RunButton.js"
import { TextInput } from "../../components/TextInput.js"
import type { Publish } from "./usePublish.js"
import type { Review } from "./useReview.js"

/** Files of the commit that are listed. */
const maxFiles = 200

/** The files of the commit, its message, and the button that publishes or proposes it. */
export const PublishForm = (props: {
  readonly files: EditReview["files"]
  readonly review: Review
  readonly publish: Publish
}) => {
  const { files, publish, review } = props
  const { change, input, running } = publish
  const { description, isProposal, message } = input
  const unfit = review.objections.size
  const descriptionField = useRef<HTMLTextAreaElement>(null)
  const proposeInstead = () => {
    publish.proposeInstead()
    requestAnimationFrame(() => descriptionField.current?.focus())
  }
  return (
    <>
      {files.length === 0 ? null : (
        <details class="files">
          <summary>{plural(files.length, "file")} in the commit</summary>
          <ul>
            {files.slice(0, maxFiles).map(({ path, removed }) => (
              <li key={path}>
                <code>{path}</code> {removed ? <span class="badge removed">removed</span> : null}
              </li>
            ))}
          </ul>
        </details>
      )}
      <div class="field">
        <label for="publish-message">Message</label>
        <TextInput
          id="publish-message"
          value={message}
          placeholder={publish.defaultMessage}
          onInput={(event) => change({ message: event.currentTarget.value })}
        />
      </div>
      <label class="inline-check">
        <input
          type="checkbox"
          checked={isProposal}
          onChange={(event) => change({ isProposal: event.currentTarget.checked })}
        />
        <span>Propose the changes for review</span>
      </label>
      {isProposal ? (
        <label class="field">
          <span>Description</span>
          <textarea
            ref={descriptionField}
            value={description}
            rows={3}
            onInput={(event) => change({ description: event.currentTarget.value })}
          />
        </label>
      ) : null}
      {publish.problem === undefined ? null : (
        <ProblemCard problem={publish.problem}>
          <p>
            Your drafts are kept.{" "}
            {isProposal
              ? "Check the proposals first. If this one was created, proposing again creates a second one."
              : "You can publish again: changes that were already saved are not written twice."}
          </p>
          {publish.problem.kind !== "denied" || isProposal ? null : (
            <button type="button" class="button" onClick={proposeInstead}>
              Propose instead
            </button>
          )}
        </ProblemCard>
      )}
      {unfit === 0 ? null : (
        <p class="wrong">
          {plural(unfit, "draft")} {unfit === 1 ? "does" : "do"} not fit the schema of the collection.
        </p>
      )}
      <div class="actions end">
        <RunButton running={review.reading.running} kind="quiet" onClick={review.refresh}>
          Review again
        </RunButton>
        <RunButton
          kind="primary"
          id="publish"
          running={running}
          disabled={!review.isReady || review.reading.running}
          onClick={publish.publish}
        >
          {running ? (isProposal ? "Proposing…" : "Publishing…") : isProposal ? "Propose" : "Publish"}
          {unfit === 0 || running ? "" : " anyway"}
        </RunButton>
      </div>
    </>
  )
}
