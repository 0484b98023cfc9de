/** What our client uses of GitHub's REST API. What only the host serves beside it is not in the browser's bundle. */
export * from "./Commits.js"
export * from "./Contents.js"
export type { Endpoint, Method, ParameterOf } from "./Endpoint.js"
export * from "./Objects.js"
export * from "./Refs.js"
export * from "./Repository.js"
export type { PersonInput } from "./Shapes.js"
