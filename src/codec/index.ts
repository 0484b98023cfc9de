/**
 * Schemas of documents and of every error, so that RPC, `HttpApi` and cluster carry them.
 *
 * @module chainstore/codec
 * @since 0.1.0
 */

export * from "./ChainErrors.js"
export * from "./Document.js"
export * from "./StoreErrors.js"
