/** What a value is, for the message that refuses it. */
export const kindOf = (value: unknown) => (value === null ? "null" : typeof value)

/** Refuses what is no function when a step is registered, not when a request reaches it. */
export const notAFunction = (method: string, parameter: string, value: unknown) =>
  new TypeError(`ChainBuilder.${method}: ${parameter} must be a function, not ${kindOf(value)}`)
