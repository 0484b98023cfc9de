/** The endpoints that the client calls. Endpoints that only the host serves are not exported here, to keep them out of browser bundles. */
export * from "./Commits.js"
export * from "./Contents.js"
export type { Endpoint, Method, ParameterOf } from "./Endpoint.js"
export * from "./Objects.js"
export * from "./Refs.js"
export * from "./Repository.js"
export type { PersonInput } from "./Shapes.js"
