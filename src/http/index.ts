/**
 * The HTTP server and the playground's API, for use in your own program. Node only.
 *
 * @module chainstore/http
 * @since 0.1.0
 */

export * from "./playground/index.js"
export * from "./server/index.js"
