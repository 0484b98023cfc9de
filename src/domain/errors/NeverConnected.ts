/** Codes of Node's and undici's errors. */
const notSentCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT"
])

/** Whether no connection was established, so that a write certainly did not happen. */
export const neverConnected = (cause: unknown): boolean => {
  let at: unknown = cause
  for (let depth = 0; depth < 6 && typeof at === "object" && at !== null; depth++) {
    const { cause: inner, code, errors } = at as { code?: unknown; cause?: unknown; errors?: unknown }
    if (typeof code === "string" && notSentCodes.has(code)) return true
    if (Array.isArray(errors) && errors.length > 0 && errors.every(neverConnected)) return true
    at = inner
  }
  return false
}
