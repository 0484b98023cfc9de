/** The type of a value, for error messages. */
export const typeName = (value: unknown) => (value === null ? "null" : typeof value)

/** The error for a value that is not a function. It is thrown at registration, before any request. */
export const notAFunction = (method: string, parameter: string, value: unknown) =>
  new TypeError(`ChainBuilder.${method}: ${parameter} must be a function, not ${typeName(value)}`)
