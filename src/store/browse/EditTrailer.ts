import { sha256 } from "../../git/Digest.js"
import { withTrailer } from "../../git/Trailers.js"
import type { StagedEdit } from "./StagedEdits.js"

const token = "Chainstore-Edits"
const line = new RegExp(`^${token}:((?: [0-9a-f]{16})+)[ \\t\\r]*$`, "gm")

/** Identifies an edit by its content: a different base, text, settlement or stamp gives a different digest. */
const editDigest = ({ base, collection, id, settled, stamp, text }: StagedEdit): string =>
  sha256(JSON.stringify([collection, id, base?.sha, text, settled?.against, settled?.theirs, stamp])).slice(
    0,
    16
  )

/** Adds a trailer to a commit message with the digests of the edits that the commit writes. */
export const withEditTrailer = (message: string, edits: ReadonlyArray<StagedEdit>): string =>
  withTrailer(message, token, edits.map(editDigest).join(" "))

/** Whether the trailer of a commit message contains the digest of an edit. */
export const isEditInMessage = (message: string, edit: StagedEdit): boolean => {
  const mark = editDigest(edit)
  return Array.from(message.matchAll(line), ([, marks]) => marks!.trim().split(" ")).some((marks) =>
    marks.includes(mark)
  )
}
