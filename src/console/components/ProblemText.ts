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

/** The problem of a part that could not be loaded. */
export const loadProblem = (message: string): ProblemText => ({
  kind: "offline",
  title: offlineText[0],
  message,
  next: offlineText[1]
})
