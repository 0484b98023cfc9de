import type { EditedDocument } from "./useEditedDocument.js"

const statusOf = (
  { base, draftState, isDeleted, isUnchanged, text }: EditedDocument,
  problem: string | undefined,
  line: number | undefined
): string | undefined => {
  if (isDeleted || base === undefined) return undefined
  if (problem !== undefined) return `${line === undefined ? "The text" : `Line ${line}: the text`} ${problem}`
  if (draftState.isUnsaved) return "Not saved"
  if (isUnchanged) return "No changes"
  const isSaved = draftState.draft?.text === text
  return `${base === null ? "New" : "Changed"}, ${isSaved ? "saved as a draft" : "not saved yet"}`
}

/** The line below the editor: what is wrong with the text or whether it is saved, and the way to the review. */
export const EditorStatus = (props: {
  readonly edited: EditedDocument
  /** Why the text is not a document, as the end of a sentence. */
  readonly problem: string | undefined
  /** The line of the problem. */
  readonly line: number | undefined
  readonly onLine: (line: number) => void
  readonly onReview: () => void
}) => {
  const { edited, line, problem } = props
  return (
    <div class="json-place">
      <p class={problem === undefined || edited.isDeleted ? "json-path" : "json-path wrong"}>
        {statusOf(edited, problem, line)}
      </p>
      <div class="together">
        {line === undefined || edited.isDeleted ? null : (
          <button type="button" class="button small quiet" onClick={() => props.onLine(line)}>
            Go to line {line}
          </button>
        )}
        <button type="button" class="button primary" disabled={edited.isUnchanged} onClick={props.onReview}>
          Review and publish
        </button>
      </div>
    </div>
  )
}
