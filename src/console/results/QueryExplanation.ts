import type { QueryAnswer } from "../../store/browse/Browse.js"
import { plural } from "../components/Plural.js"

/** How the rows were found, and what that has read, in sentences. */
export const explainQuery = (
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
      ? "An index found the documents."
      : source === "manifest"
        ? "The rows come from the manifest, which holds all that is asked for."
        : "The documents were read one after the other.",
    ...(reason === undefined ? [] : [`Why: ${reason}.`]),
    ...(parts.length === 0 ? [] : [`Read for these rows: ${parts.join(" and ")}.`]),
    ...(isSorted
      ? [sorted === true ? "They are in the order of the whole collection." : "Only these rows were sorted."]
      : [])
  ]
}
