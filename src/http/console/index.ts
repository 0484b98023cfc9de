/**
 * The description of the console's HTTP API.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as ConsoleApi from "./ConsoleApi.js"
/**
 * The console's API and pages as mounts of a server.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as ConsoleMounts from "./ConsoleMounts.js"
export { ConsoleStores, demoRepo, embeddedApi, type OpenStore, type StoreRequest } from "./ConsoleStores.js"
/**
 * The implementation of the console's API.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as ConsoleHandlers from "./Handlers.js"
export { defaultLimits, type SessionLimits, Sessions } from "./Sessions.js"
/**
 * The pages of the built console, served from memory.
 *
 * @since 0.1.0
 * @category namespaces
 */
export * as ConsolePages from "./StaticPages.js"
