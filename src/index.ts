export * from "./chain/index.js"
export * from "./store/index.js"
