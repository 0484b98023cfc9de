const essence = (message: string) => message.replace(/\s+/g, " ").trim()

/** Whether two messages differ in white space at most, which GitHub changes as it likes between headline and body. */
export const sameMessage = (a: string, b: string): boolean => essence(a) === essence(b)
