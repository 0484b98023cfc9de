/** Codes of Node's and undici's errors. */
const notSentCodes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT"
])

/** Looks at so many levels of causes. An error may be among its own causes. */
const maxLevels = 6

const neverConnectedWithin = (cause: unknown, levels: number): boolean => {
  if (levels === 0 || typeof cause !== "object" || cause === null) return false
  const { cause: inner, code, errors } = cause as { code?: unknown; cause?: unknown; errors?: unknown }
  if (notSentCodes.has(code)) return true
  const isNeverConnected = (error: unknown) => neverConnectedWithin(error, levels - 1)
  return (
    (Array.isArray(errors) && errors.length > 0 && errors.every(isNeverConnected)) || isNeverConnected(inner)
  )
}

/** Whether no connection was established, so that a write certainly did not happen. */
export const neverConnected = (cause: unknown): boolean => neverConnectedWithin(cause, maxLevels)
