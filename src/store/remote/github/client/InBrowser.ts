/** Whether this is a page or a worker of one: CORS decides there what may be sent where. */
export const inBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis
