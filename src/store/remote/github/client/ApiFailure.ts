import * as Data from "effect/Data"
import { type HeaderRecord, quotaHeaders, retryAfter } from "./LimitHeaders.js"

/** The meaning of a reply of the API. Only `classify` derives it from status, headers and message. */
export type FailureKind =
  /** 401. */
  | "Credentials"
  /** 403: a permission, a scope or a single sign-on is missing. */
  | "Forbidden"
  /** 403: the request has no User-Agent. */
  | "NoUserAgent"
  /** The quota of the window is used up. */
  | "PrimaryLimit"
  /** A limit on concurrent or content-creating requests. */
  | "SecondaryLimit"
  | "TooLarge"
  | "Missing"
  | "EmptyRepository"
  /** The file is not the blob that the write named. */
  | "BlobMismatch"
  /** The file exists and the write named no blob. */
  | "ShaMissing"
  /** The branch moved while the host was writing. The same request can be sent again. */
  | "RefRace"
  | "NotFastForward"
  /** GraphQL: the branch is not at the expected head. */
  | "StaleHead"
  | "RefExists"
  | "RefMissing"
  /** The path to delete does not exist. */
  | "PathMissing"
  /** The tree or the commit that a new one is based on is not in the repository. */
  | "BaseMissing"
  | "RuleViolation"
  /** The branch already has an open pull request. */
  | "PullExists"
  /** The host does not merge the pull request: it has conflicts, or a review or check is missing. */
  | "NotMergeable"
  /** The host needs more than its limit of ten seconds. */
  | "TooMuch"
  | "Invalid"
  | "Conflict"
  /** A redirect that may not be followed. */
  | "Redirect"
  | "Server"
  | "Unreachable"
  | "TimedOut"
  /** A truncated reply, or one that does not match the API's description. */
  | "Corrupt"

/** A failed request, before it is translated to an error of the store. */
export class ApiFailure extends Data.TaggedError("ApiFailure")<{
  readonly kind: FailureKind
  readonly endpoint: string
  readonly message: string
  readonly status?: number | undefined
  /** The delay that the host asks for, in milliseconds from now. */
  readonly retryAfter?: number | undefined
  readonly remaining?: number | undefined
  /** Seconds since the epoch. */
  readonly reset?: number | undefined
  /** The request was not sent. */
  readonly notSent?: boolean | undefined
  readonly hint?: string | undefined
  readonly cause?: unknown
}> {}

/** Whether the request may have taken effect although it failed. */
export const isAmbiguous = (failure: ApiFailure) =>
  failure.notSent !== true &&
  (failure.kind === "Server" ||
    failure.kind === "Unreachable" ||
    failure.kind === "TimedOut" ||
    failure.kind === "Corrupt")

export const isApiFailure = (error: { readonly _tag: string }): error is ApiFailure =>
  error._tag === "ApiFailure"

export const isKind =
  (...kinds: ReadonlyArray<FailureKind>) =>
  (error: { readonly _tag: string }): boolean =>
    isApiFailure(error) && kinds.includes(error.kind)

/** The requested object does not exist, according to the replica that replied. */
export const isMissing = (error: { readonly _tag: string }): boolean =>
  isApiFailure(error) && (error.kind === "Missing" || error.kind === "EmptyRepository")

/** The commit of the request does not exist, according to the replica that replied. */
export const isUnknownCommit = (error: { readonly _tag: string }): boolean =>
  isApiFailure(error) &&
  (error.kind === "EmptyRepository" || (error.kind === "Missing" && /no commit found/i.test(error.message)))

/** GitHub replies 404 for two commits without a common ancestor, too. */
export const isUnrelatedHistory = (error: { readonly _tag: string }): boolean =>
  isApiFailure(error) && error.kind === "Missing" && /no common ancestor/i.test(error.message)

export const isLimit = (failure: ApiFailure) =>
  failure.kind === "PrimaryLimit" || failure.kind === "SecondaryLimit"

/** Whether a retry may succeed. */
export const isTransient = (failure: ApiFailure) =>
  failure.kind === "Server" ||
  failure.kind === "Unreachable" ||
  failure.kind === "TimedOut" ||
  failure.kind === "Corrupt"

const ruleViolation =
  /rule violation|protected branch|changes must be made through a pull request|required status check|cannot update this protected ref|push declined/i

/** Messages that distinguish the meanings of one status. */
const byMessage: ReadonlyArray<readonly [ReadonlyArray<number>, RegExp, FailureKind]> = [
  [[403], /forbidden by administrative rules/i, "NoUserAgent"],
  [[403, 409, 422], ruleViolation, "RuleViolation"],
  [[404, 409], /repository is empty/i, "EmptyRepository"],
  [[409], /is at [0-9a-f]{40} but expected|expected to be at/i, "RefRace"],
  [[409], /does not match/i, "BlobMismatch"],
  [[409, 422], /reference already exists/i, "RefExists"],
  [[404, 422], /reference does not exist/i, "RefMissing"],
  [[422], /pull request already exists/i, "PullExists"],
  [[405, 409], /(base|head) branch was modified/i, "Conflict"],
  [[405], /./, "NotMergeable"],
  [[422], /"sha" wasn't supplied/i, "ShaMissing"],
  [[409, 422], /not a fast[- ]forward/i, "NotFastForward"],
  [[422], /BadObjectState/i, "PathMissing"],
  [[422], /base_tree is not a valid|parent sha does not exist/i, "BaseMissing"],
  [[422], /timed out|too large/i, "TooMuch"],
  [[422], /no commit found|object does not exist/i, "Missing"],
  [[422], /\b(file|path|document)\b.{0,200}\b(does not|doesn't) exist|\b(file|path) not found/i, "Missing"]
]

const kindOf = (
  status: number,
  message: string,
  remaining: number | undefined,
  advised: boolean
): FailureKind => {
  if (status === 403 || status === 429) {
    if (/secondary rate limit|abuse detection/i.test(message)) return "SecondaryLimit"
    if (remaining === 0) return "PrimaryLimit"
    if (status === 429 || advised || /rate limit/i.test(message)) return "SecondaryLimit"
  }
  const named = byMessage.find(([statuses, pattern]) => statuses.includes(status) && pattern.test(message))
  if (named !== undefined) return named[2]
  if (status === 401) return "Credentials"
  if (status === 403) return "Forbidden"
  if (status === 404 || status === 410) return "Missing"
  if (status === 409) return "Conflict"
  if (status === 413) return "TooMuch"
  return status >= 500 ? "Server" : "Invalid"
}

const hintOf = (
  kind: FailureKind,
  headers: HeaderRecord,
  message: string,
  endpoint: string
): string | undefined => {
  const sso = headers["x-github-sso"]
  if (kind === "Forbidden" && sso !== undefined) {
    const url = /url=(https:\S+)/.exec(sso)?.[1]
    return `authorise the token for the organisation's single sign-on${url === undefined ? "" : ` at ${url}`}`
  }
  const wanted = headers["x-accepted-github-permissions"] ?? headers["x-accepted-oauth-scopes"]
  if (kind === "Forbidden") {
    return wanted
      ? `the token needs ${wanted}`
      : `the token needs the permission ${endpoint.startsWith("pulls/") ? "Pull requests" : "Contents"}: Read and write (a classic token: the scope repo)`
  }
  if (kind === "RuleViolation") {
    return "a rule of the repository forbids this commit: write to another branch, or allow the token to bypass the rule"
  }
  return kind === "Credentials" && /requires authentication/i.test(message)
    ? "give a token"
    : kind === "Credentials"
      ? "the token is wrong, expired or revoked"
      : undefined
}

interface Problem {
  readonly message?: unknown
  readonly errors?: unknown
}

/** Classifies an error reply of the REST API. */
export const classify = (
  endpoint: string,
  status: number,
  headers: HeaderRecord,
  body: string,
  now: number
): ApiFailure => {
  let problem: Problem = {}
  try {
    const parsed: unknown = JSON.parse(body)
    if (typeof parsed === "object" && parsed !== null) problem = parsed
  } catch {
    problem = {}
  }
  const message = (typeof problem.message === "string" ? problem.message : body.slice(0, 200)).trim()
  const errors = JSON.stringify(problem.errors ?? [])
  const { remaining, reset, toReset } = quotaHeaders(headers, now)
  const advice = retryAfter(headers, now)
  const kind = /"too_large"/.test(errors)
    ? "TooLarge"
    : kindOf(status, `${message} ${errors}`, remaining, advice !== undefined)
  return new ApiFailure({
    kind,
    endpoint,
    status,
    message: message === "" ? `HTTP ${status}` : message,
    retryAfter:
      advice ??
      (remaining === 0 && (kind === "PrimaryLimit" || kind === "SecondaryLimit") ? toReset : undefined),
    remaining,
    reset,
    hint: hintOf(kind, headers, message, endpoint)
  })
}

/** Classifies the errors of a GraphQL reply, which has status 200. */
export const classifyGraphql = (
  errors: ReadonlyArray<{ readonly type?: string | undefined; readonly message: string }>,
  headers: HeaderRecord,
  now: number
): ApiFailure => {
  const message = errors.map((error) => error.message).join("; ")
  const is = (type: string) => errors.some((error) => error.type === type)
  const { remaining, reset, toReset } = quotaHeaders(headers, now)
  const kind: FailureKind = /secondary rate limit/i.test(message)
    ? "SecondaryLimit"
    : is("RATE_LIMITED") || is("RATE_LIMIT")
      ? "PrimaryLimit"
      : is("STALE_DATA") || /expected branch to point to/i.test(message)
        ? "StaleHead"
        : ruleViolation.test(message)
          ? "RuleViolation"
          : /not a fast[- ]forward/i.test(message)
            ? "NotFastForward"
            : /requested for deletion which does not exist/i.test(message)
              ? "PathMissing"
              : is("FORBIDDEN") || is("INSUFFICIENT_SCOPES")
                ? "Forbidden"
                : is("NOT_FOUND")
                  ? "Missing"
                  : /something went wrong|timeout|timed out|resource limits? (?:for this query )?exceeded/i.test(
                        message
                      )
                    ? "Server"
                    : "Invalid"
  return new ApiFailure({
    kind,
    endpoint: "graphql",
    status: 200,
    message: message === "" ? "the GraphQL API failed without a reason" : message,
    retryAfter:
      retryAfter(headers, now) ??
      (kind === "PrimaryLimit" || (kind === "SecondaryLimit" && remaining === 0) ? toReset : undefined),
    remaining,
    reset,
    hint: hintOf(kind, headers, message, "graphql")
  })
}

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
