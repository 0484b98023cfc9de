import type { QueryAnswer } from "../../store/browse/Browse.js"
import { plural } from "../components/Plural.js"

/** How the rows were found and what was read, in sentences. */
const sentencesOf = (
  { reason, read, sorted, source }: QueryAnswer,
  isSorted: boolean
): ReadonlyArray<string> => {
  const rows = read?.entries ?? 0
  const parts = [
    ...(rows === 0 ? [] : [`${rows.toLocaleString("en")} ${rows === 1 ? "row" : "rows"} of the ${source}`]),
    ...(read === undefined ? [] : [read.documents === 0 ? "no document" : plural(read.documents, "document")])
  ]
  return [
    source === "index"
      ? "An index was used to find the documents."
      : source === "manifest"
        ? "The rows were read from the manifest, which has all requested fields."
        : "The documents were read one by one.",
    ...(reason === undefined ? [] : [`Why: ${reason}.`]),
    ...(parts.length === 0 ? [] : [`Read: ${parts.join(" and ")}.`]),
    ...(isSorted
      ? [sorted === true ? "The whole collection is sorted." : "Only the loaded rows are sorted."]
      : [])
  ]
}

/** Explains how the rows were found and what was read. Rows of a scan may come with the offer of an index. */
export const QueryExplanation = (props: {
  readonly answer: QueryAnswer
  readonly isSorted: boolean
  readonly onCreateIndex: (() => void) | undefined
}) => (
  <>
    {sentencesOf(props.answer, props.isSorted).map((sentence) => (
      <p key={sentence}>{sentence}</p>
    ))}
    {props.onCreateIndex === undefined ? null : (
      <button type="button" class="button plain" onClick={props.onCreateIndex}>
        Create an index
      </button>
    )}
  </>
)
