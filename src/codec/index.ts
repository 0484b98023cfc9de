export * from "./ChainErrors.js"
export * from "./Document.js"
export * from "./StoreErrors.js"
