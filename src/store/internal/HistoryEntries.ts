import type { CommitInfo } from "../../git/Commit.js"
import type { HistoryEntry } from "../Collection.js"
import { withoutMark } from "../remote/CommitMark.js"

/** A commit as an entry of a history. */
export const historyEntry = ({ author, commit, message, url }: CommitInfo): HistoryEntry => ({
  sha: commit,
  message: withoutMark(message),
  author: author.name,
  date: author.date,
  url
})
