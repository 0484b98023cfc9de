import { ApiFailure, type FailureKind } from "./ApiFailure.js"
import { type HeaderRecord, quotaHeaders, retryAfter } from "./LimitHeaders.js"

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
