/** The panels of one collection, loaded when the first of them opens. */
export { CommitsPanel } from "./CommitsPanel.js"
export { DocumentPanel } from "./DocumentPanel.js"
