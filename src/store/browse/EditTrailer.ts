import { sha256 } from "../../git/Digest.js"
import { withTrailer } from "../../git/Trailers.js"
import type { StagedEdit } from "./StagedEdits.js"

const token = "Chainstore-Edits"
const line = new RegExp(`^${token}:((?: [0-9a-f]{16})+)[ \\t\\r]*$`, "gm")

/** An edit's own name, made of everything that it says: another base, text, decision or stamp makes it another edit. */
const editDigest = ({ base, collection, id, settled, stamp, text }: StagedEdit): string =>
  sha256(JSON.stringify([collection, id, base?.sha, text, settled?.against, settled?.theirs, stamp])).slice(
    0,
    16
  )

/** The message of a commit, with a trailer that names the edits that it writes. */
export const withEditTrailer = (message: string, edits: ReadonlyArray<StagedEdit>): string =>
  withTrailer(message, token, edits.map(editDigest).join(" "))

/** Whether a commit's message says that the commit writes an edit. */
export const isEditInMessage = (message: string, edit: StagedEdit): boolean => {
  const mark = editDigest(edit)
  return Array.from(message.matchAll(line), ([, marks]) => marks!.trim().split(" ")).some((marks) =>
    marks.includes(mark)
  )
}
