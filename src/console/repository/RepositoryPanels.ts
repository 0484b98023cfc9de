import "./repository.css"

/** History, branches and proposals of the repository; fetched when they are first opened. */
export { BranchesPanel } from "./BranchesPanel.js"
export { ProposalsPanel } from "./ProposalsPanel.js"
export { TimelinePanel } from "./TimelinePanel.js"
