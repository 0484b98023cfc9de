export { PlaygroundApi, PlaygroundGroup } from "./Api.js"
/**
 * A typed client of the playground's API.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as PlaygroundClient from "./Client.js"
/**
 * The OpenAPI file and the interactive page of the playground.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as PlaygroundDocs from "./Docs.js"
/**
 * The implementation of the playground's API.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as PlaygroundHandlers from "./Handlers.js"
/**
 * The service behind the playground's operations, without HTTP.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Playground from "./Playground.js"
/**
 * The playground as served by `HttpApiBuilder`.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as PlaygroundStock from "./Stock.js"
