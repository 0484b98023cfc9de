import { isAbsolute } from "node:path"
import {
  AmbiguousWriteError,
  AuthError,
  ConflictError,
  NotFoundError,
  RateLimitError,
  RemoteError,
  type RemoteErrorReason,
  StoreError,
  ValidationError
} from "../../domain/errors/StoreError.js"
import { Failure } from "../server/HttpError.js"

/**
 * The failure of a repository on this machine that an error is, or whose message it quotes. Its texts contain directory names that
 * clients must not see.
 */
const localFailure = (error: StoreError): StoreError | undefined => {
  const { cause, message, path } = error
  if (path !== undefined && isAbsolute(path)) return error
  return isStoreError(cause) && message.includes(cause.message) ? localFailure(cause) : undefined
}

/** Whether an error has texts about a repository on this machine that clients must not see. */
export const isLocalRepository = (error: StoreError): boolean => localFailure(error) !== undefined

const statusOf = (error: StoreError): number => {
  if (error instanceof AuthError) return error.status === 401 || error.status === undefined ? 401 : 403
  if (error instanceof NotFoundError) return 404
  if (error instanceof ConflictError) return 409
  if (error instanceof ValidationError) return 422
  if (error instanceof RateLimitError) return 429
  if (error instanceof RemoteError && error.reason === "Denied" && !isLocalRepository(error)) return 403
  return 502
}

const sentences = (error: StoreError): string => {
  const { hint, message } = error
  if (hint === undefined || message.includes(hint)) return message
  const advice = `${hint.charAt(0).toUpperCase()}${hint.slice(1)}`
  return /[.!?]$/.test(message) ? `${message} ${advice}` : `${message}. ${advice}`
}

const reasons: Readonly<Record<RemoteErrorReason, string>> = {
  Unreachable: "The repository is no longer on the server.",
  Timeout: "The server's repository timed out.",
  Locked: "The server's repository is locked by another process. Try again.",
  Denied:
    "The server cannot write to its repository: the disk is full or read-only, or permissions are missing.",
  Corrupt: "The server's repository is damaged or incomplete.",
  Unsupported: "The server's repository does not support this operation.",
  Server: "The server cannot use its repository."
}

const withoutPaths = (error: StoreError): string =>
  `${error instanceof RemoteError ? reasons[error.reason] : reasons.Server} The cause is in the server's log.`

/** The error reply of a store failure. The message includes its hint. */
export const fromStore = (error: StoreError, now: number): Failure => {
  const local = localFailure(error)
  const base = {
    _tag: (error as { readonly _tag: string })._tag,
    message: local === undefined ? sentences(error) : withoutPaths(local)
  }
  if (error instanceof RateLimitError && error.resetAt !== undefined) {
    const seconds = Math.max(1, Math.ceil((error.resetAt.getTime() - now) / 1000))
    return new Failure({ ...base, status: 429, headers: { "retry-after": String(seconds) } })
  }
  if (error instanceof AmbiguousWriteError) return new Failure({ ...base, status: 502 })
  return new Failure({ ...base, status: statusOf(error) })
}

export const isStoreError = (error: unknown): error is StoreError => error instanceof StoreError

export const notSignedIn = () =>
  new Failure({ _tag: "AuthError", status: 401, message: "You are not signed in. Sign in first." })

/** The error of a page whose session was switched to another branch or repository in another tab. */
export const sessionSwitched = () =>
  new Failure({
    _tag: "AuthError",
    status: 401,
    message:
      "This session was switched to another branch or repository in another tab. Reload the page to continue there."
  })

export const foreignOrigin = () =>
  new Failure({
    _tag: "ForbiddenOrigin",
    status: 403,
    message: "Requests to this API must come from the console's own page."
  })

export const tooManyAttempts = (seconds: number) =>
  new Failure({
    _tag: "RateLimitError",
    status: 429,
    message: `Too many failed sign-ins: try again in ${seconds} s.`,
    headers: { "retry-after": String(seconds) }
  })
