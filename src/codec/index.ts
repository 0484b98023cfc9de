/**
 * Schemas of documents and of all errors, for RPC, `HttpApi` and cluster.
 *
 * @module chainstore/codec
 * @since 0.1.0
 */

export * from "./ChainErrors.js"
export * from "./Document.js"
export * from "./StoreErrors.js"
