/**
 * The HTTP server, the playground's API and the console's API, to be put into a program of your own. Node only.
 *
 * @module chainstore/http
 * @since 0.1.0
 */

export * from "./playground/index.js"
export * from "./server/index.js"
