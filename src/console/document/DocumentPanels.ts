/** What opens beside the table; fetched when it first does. */
export { CommitsPanel as Commits } from "./CommitsPanel.js"
export { DocumentPanel } from "./DocumentPanel.js"
