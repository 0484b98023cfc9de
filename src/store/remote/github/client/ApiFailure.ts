import * as Data from "effect/Data"

/** The meaning of a reply of the API. Only `ReplyClassification` derives it from status, headers and message. */
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
