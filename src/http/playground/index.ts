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
 * How the playground's API answers.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as PlaygroundHandlers from "./Handlers.js"
/**
 * What the playground's operations do, without HTTP.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Playground from "./Playground.js"
/**
 * The chains that the playground has ready.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as PlaygroundStock from "./Stock.js"
