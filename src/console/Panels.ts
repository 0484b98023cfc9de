/** What opens beside the table; fetched when it first does. */
export { Commits } from "./document/Commits.js"
export { DocumentPanel } from "./document/DocumentPanel.js"
