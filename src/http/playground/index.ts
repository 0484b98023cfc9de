export { PlaygroundApi, PlaygroundGroup } from "./Api.js"
export * as PlaygroundDocs from "./Docs.js"
export * as PlaygroundHandlers from "./Handlers.js"
export * as Playground from "./Playground.js"
