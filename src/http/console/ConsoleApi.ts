export * from "./Api.js"
export * from "./edits/Api.js"
