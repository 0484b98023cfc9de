/**
 * The promises of this package as laws, and arbitraries, for tests of your own chains, stores, remotes and caches.
 *
 * @module chainstore/testing
 * @since 0.1.0
 */

/**
 * Chains, requests and answers made at random.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as ChainArbitrary from "./chain/ChainArbitrary.js"
/**
 * What every chain keeps.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as ChainLaws from "./chain/ChainLaws.js"
/**
 * Checks that a history of calls and the commits that they left agree.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as HistoryCheck from "./history/HistoryCheck.js"
/**
 * Runs random programs of several writers, and records what they did.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as RandomProgram from "./history/RandomProgram.js"
/**
 * A remote with something happening between any two of its steps.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as FaultyRemote from "./program/FaultyRemote.js"
export type * from "./program/ProgramTrace.js"
/**
 * Documents, ids and programs of a store made at random.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as StoreArbitrary from "./program/StoreArbitrary.js"
export type * from "./program/StoreProgram.js"
/**
 * What every `GitRemote` keeps.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as RemoteLaws from "./remote/RemoteLaws.js"
/**
 * What every `Cache` keeps.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as CacheLaws from "./store/CacheLaws.js"
/**
 * What every store keeps.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as StoreLaws from "./store/StoreLaws.js"
