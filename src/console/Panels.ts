/** What opens beside the table; fetched when it first does. */
export { Commits } from "./Commits.js"
export { DocumentPanel } from "./DocumentPanel.js"
