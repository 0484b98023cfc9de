export { AccessEntry } from "./AccessLog.js"
/**
 * Operations of an `HttpApi` group that run without a router.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Direct from "./Direct.js"
/**
 * Error replies as Effect failures.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as HttpError from "./HttpError.js"
/**
 * A logger that writes one line per entry, as text or as JSON.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as LineLogger from "./LineLogger.js"
/**
 * Groups of paths that a platform app serves.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Mount from "./Mount.js"
/**
 * Health, readiness and metrics endpoints.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Operational from "./Operational.js"
/**
 * Effect's metrics in the Prometheus text format.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Prometheus from "./Prometheus.js"
/**
 * An HTTP server with limits, a `Host` check and a graceful stop.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Server from "./Server.js"
