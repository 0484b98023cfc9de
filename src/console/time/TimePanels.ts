import "./time.css"

/** History and branches of the repository; fetched when they are first opened. */
export { BranchesPanel } from "./BranchesPanel.js"
export { TimelinePanel } from "./TimelinePanel.js"
