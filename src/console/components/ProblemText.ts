/** What a problem says to the person in front of the page. */
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

/** What did not arrive. */
export const loadProblem = (message: string): ProblemText => ({
  kind: "offline",
  title: offlineText[0],
  message,
  next: offlineText[1]
})
