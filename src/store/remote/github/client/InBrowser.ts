/** Whether this is a web page or a worker of one, where CORS restricts requests. */
export const inBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis
