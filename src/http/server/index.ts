export { AccessEntry } from "./AccessLog.js"
/**
 * Operations of an API that run without a router.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Direct from "./Direct.js"
/**
 * Replies that are errors, as values.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as HttpError from "./HttpError.js"
/**
 * A logger that writes one line an entry, as text or as JSON.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as LineLogger from "./LineLogger.js"
/**
 * Groups of paths that a server answers by an app.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Mount from "./Mount.js"
/**
 * The pages for those who run a server: health, readiness, metrics.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Operational from "./Operational.js"
/**
 * Effect's metrics in the text format of Prometheus.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Prometheus from "./Prometheus.js"
/**
 * An HTTP server with limits, checks and a graceful end.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as Server from "./Server.js"
