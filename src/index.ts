/**
 * Everything of `chainstore/chain` and `chainstore/store`.
 *
 * @module chainstore
 * @since 0.1.0
 */

export * from "./chain/index.js"
export * from "./store/index.js"
