import type { QueryAnswer } from "../../store/browse/Browse.js"
import { plural } from "../components/Plural.js"

/** Explains how the rows were found and what was read. */
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
