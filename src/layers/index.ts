/**
 * The service that the command line runs: its settings, layers and main programs. Node only.
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
 * The programs of `chainstore serve` and `chainstore host`.
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
 * The settings of the service, from environment variables.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Settings from "./Settings.js"
/**
 * Logs, and exports traces and metrics to a collector if the settings name one.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Telemetry from "./Telemetry.js"
