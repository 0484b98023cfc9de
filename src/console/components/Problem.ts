import * as Data from "effect/Data"
import type { StoreError } from "../../domain/errors/StoreError.js"
import { offlineText, partText } from "./ProblemText.js"

export type ProblemKind =
  | "signedOut"
  | "token"
  | "permission"
  | "denied"
  | "repository"
  | "branch"
  | "missing"
  | "commit"
  | "unreadable"
  | "signOut"
  | "rateLimit"
  | "offline"
  | "part"
  | "conflict"
  | "invalid"
  | "server"

/** A failure for the user: what happened, and what to do next. */
export class Problem extends Data.TaggedError("Problem")<{
  readonly kind: ProblemKind
  readonly title: string
  readonly message: string
  readonly next: string
}> {}

const texts: Readonly<Record<ProblemKind, readonly [title: string, next: string]>> = {
  signedOut: ["Your session has ended", "Sign in again to continue where you were."],
  token: [
    "The token was not accepted",
    "Check that the token is complete and has not expired, then sign in again. Public repositories can be read without one."
  ],
  permission: [
    "The token lacks a permission",
    "Give it Contents: read and write for this repository (classic tokens: the repo scope), then try again."
  ],
  denied: [
    "The repository refused the change",
    "Ask for the right to write to this branch, or propose the changes for review."
  ],
  repository: [
    "The repository was not found",
    "Check the spelling of owner/name. A token without access to a private repository does not see it."
  ],
  branch: [
    "The branch was not found",
    "Check the branch in the sign-in form; many repositories use main or master."
  ],
  missing: ["Not found", "It may have been deleted or renamed. Run the query again."],
  commit: ["The commit was not found", "Enter a tag, a branch or a full commit id of this repository."],
  unreadable: [
    "The file is not a valid document",
    "Fix the file in a commit, or restore an earlier version from its history."
  ],
  signOut: ["You may still be signed in", "The server did not confirm the sign-out. Sign out again."],
  rateLimit: [
    "The rate limit is used up",
    "Wait for the reset, then run again. Signing in with a token gives a much higher limit."
  ],
  offline: offlineText,
  part: partText,
  conflict: ["The document has changed", "Open it again to see the current version. Nothing was saved."],
  invalid: ["Invalid query", "Correct the value that the message names, then run the query again."],
  server: ["Server error", "Try again in a moment. Nothing was lost."]
}

/** The name of the API operation at the start of a store message. */
const operation =
  /^(?:(?:git|meta|rate-limit|repos|users)\/(?:get|list|create|update|delete|compare|merge|download|root)[a-z-]*|graphql|raw): /

// Hides the path of a local repository and the details of a schema error, which are for developers.
const shownMessage = (message: string): string =>
  message
    .replace(operation, "")
    .replace(/(the answer is not what the API describes): [\s\S]*/, "$1")
    .replace(/\bfile:\/\/\S*?([^/\s]+\/[^/\s]+)\.git(?=[\s.,]|$)/g, "$1")

const make = (kind: ProblemKind, message: string, next?: string): Problem =>
  new Problem({ kind, title: texts[kind][0], message: shownMessage(message), next: next ?? texts[kind][1] })

export const offline = (message: string): Problem => make("offline", message)

/** A module of this page could not be loaded. */
export const partMissing = (message: string): Problem => make("part", message)

export const signedOut = (): Problem => make("signedOut", "The server no longer knows this session.")

/** The server sent an unexpected response. */
export const server = (message: string): Problem => make("server", message)

/** The sign-out request failed, so the session may still be open. */
export const stillSignedIn = (message: string): Problem => make("signOut", message)

// Messages contain names of documents, so whole phrases are matched.
const notFound = (message: string): ProblemKind =>
  / has no commit\b|^the commit \S+ is not in /i.test(message)
    ? "commit"
    : / has no branch /i.test(message)
      ? "branch"
      : /^(the|there is no) repository \S+|, or these credentials may not see it/i.test(message)
        ? "repository"
        : "missing"

const isUnreadable = (message: string): boolean =>
  /^\S+\.json (is not JSON|is not text in UTF-8|does not hold a JSON object)\b/.test(message)

const kindOf = (name: string, status: number | undefined, message: string): ProblemKind => {
  switch (name) {
    case "AuthError":
      return status === 403 ? "permission" : "token"
    case "NotFoundError":
      return notFound(message)
    case "RateLimitError":
      return "rateLimit"
    case "ConflictError":
      return "conflict"
    case "ValidationError":
      return isUnreadable(message) ? "unreadable" : "invalid"
    case "RemoteError":
      if (status === 403) return "denied"
      return /\b(reach|connect|network|timed? ?out|fetch)/i.test(message) ? "offline" : "server"
    default:
      return "server"
  }
}

const clock = (date: Date) =>
  date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })

const reset = (date: Date | undefined) =>
  date === undefined || Number.isNaN(date.getTime())
    ? undefined
    : `Wait until ${clock(date)}, when the limit is reset, then run again.`

/** Translates an error response of the local server. */
export const fromResponse = (
  status: number,
  body: { readonly error: string; readonly message: string },
  retryAfter: string | null
): Problem => {
  const seconds = Number(retryAfter ?? "")
  return make(
    kindOf(body.error, status, body.message),
    body.message,
    status === 429 && seconds > 0 ? reset(new Date(Date.now() + seconds * 1000)) : undefined
  )
}

// The library's advice for these kinds is for programmers.
const kindsWithOwnAdvice: ReadonlySet<ProblemKind> = new Set([
  "commit",
  "offline",
  "server",
  "token",
  "unreadable"
])

/** Translates an error of the store that runs in this page. */
export const fromStoreError = (error: StoreError): Problem => {
  const name = (error as unknown as { readonly _tag: string })._tag
  const reason = (error as { readonly reason?: string }).reason
  const kind =
    reason === "Unreachable" || reason === "Timeout"
      ? "offline"
      : reason === "Denied"
        ? "denied"
        : kindOf(name, error.status, error.message)
  const resetAt = (error as { readonly resetAt?: Date }).resetAt
  const own = kind === "rateLimit" ? reset(resetAt) : undefined
  return make(kind, error.message, own ?? (kindsWithOwnAdvice.has(kind) ? undefined : error.hint))
}
