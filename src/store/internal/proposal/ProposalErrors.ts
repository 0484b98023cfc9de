import { ConflictError, NotFoundError } from "../../../domain/errors/StoreError.js"
import type { Proposal } from "../../Proposals.js"

/** The branch of a proposal does not exist. */
export const branchGone = (operation: string, branch: string) =>
  new NotFoundError({
    operation,
    message: `the branch ${branch} is gone`,
    hint: "`proposals` lists the proposals"
  })

/** The proposal is closed or accepted. */
export const alreadyEnded = (operation: string, { id, state, title }: Proposal) =>
  new ConflictError({
    operation,
    message: `the proposal ${id} (${title}) was ${state} already`,
    hint: state === "closed" ? "propose the edits again" : "its edits are in the branch that it was made for",
    conflicts: []
  })

/** The proposal is being accepted. */
export const beingAccepted = (operation: string, { branch, id }: Proposal) =>
  new ConflictError({
    operation,
    message: `the proposal ${id} is being accepted`,
    hint: "nothing was written: look at it again, and try again in a minute where it is still open",
    conflicts: [],
    branch
  })

/** The proposal has another head than the one that was reviewed. */
export const proposalMoved = (
  operation: string,
  { branch, id }: Proposal,
  expected: string,
  actual: string
) =>
  new ConflictError({
    operation,
    message: `the proposal ${id} is at ${actual.slice(0, 7)}, not at ${expected.slice(0, 7)}: it has changed since`,
    hint: "look at what it proposes now, then accept that",
    conflicts: [],
    branch
  })
