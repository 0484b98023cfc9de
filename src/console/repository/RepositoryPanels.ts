import "./repository.css"

/** The panels of the whole repository, loaded when the first of them opens. */
export { BranchesPanel } from "./BranchesPanel.js"
export { ProposalsPanel } from "./ProposalsPanel.js"
export { TimelinePanel } from "./TimelinePanel.js"
