/**
 * The service as the command line runs it: its settings, its layers and its mains. Node only.
 *
 * @module chainstore/layers
 * @since 0.1.0
 */

/**
 * The GitHub-compatible host inside the service.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as EmbeddedHost from "./EmbeddedHost.js"
/**
 * What `chainstore serve` and `chainstore host` run.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Main from "./Main.js"
/**
 * The whole service as a layer.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Service from "./Service.js"
/**
 * What the service reads from its environment.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Settings from "./Settings.js"
/**
 * Sends spans to a collector, where the environment names one.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Telemetry from "./Telemetry.js"
