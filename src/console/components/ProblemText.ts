/** The texts of a problem. */
export interface ProblemText {
  readonly kind: string
  readonly title: string
  readonly message: string
  readonly next: string
}

export const offlineText = [
  "The server cannot be reached",
  "Check your connection and the address of the server, then try again."
] as const

/** After an upgrade of the server, the parts of an open page may have other names. */
export const partText = [
  "A part of this page is missing",
  "Try again. If it fails again, reload the page."
] as const

/** The problem of a part of the page that could not be loaded. Other texts describe a request that failed. */
export const loadProblem = (
  message: string,
  [title, next]: readonly [title: string, next: string] = partText
): ProblemText => ({ kind: "part", title, message, next })
