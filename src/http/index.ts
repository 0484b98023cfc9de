export * from "./playground/index.js"
export * from "./server/index.js"
