/** What our client uses of GitHub's REST API. What only the host serves beside it is not in the browser's bundle. */
export * from "./api/Commits.js"
export * from "./api/Contents.js"
export type { Endpoint, Method, ParameterOf } from "./api/Endpoint.js"
export * from "./api/Objects.js"
export * from "./api/Refs.js"
export * from "./api/Repository.js"
export type { PersonInput } from "./api/Shapes.js"
