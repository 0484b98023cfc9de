import { Data } from "effect"
import {
  AmbiguousWriteError,
  AuthError,
  ConflictError,
  NotFoundError,
  RateLimitError,
  StoreError,
  ValidationError
} from "../../domain/StoreError.js"

/** An answer that is an error: its name on the wire, its status, and headers where HTTP wants them. */
export class ConsoleError extends Data.Error<{
  readonly _tag: string
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}> {}

const statusOf = (error: StoreError): number => {
  if (error instanceof AuthError) return error.status === 401 || error.status === undefined ? 401 : 403
  if (error instanceof NotFoundError) return 404
  if (error instanceof ConflictError) return 409
  if (error instanceof ValidationError) return 422
  if (error instanceof RateLimitError) return 429
  return 502
}

const sentences = (error: StoreError): string => {
  const { hint, message } = error
  if (hint === undefined || message.includes(hint)) return message
  const advice = `${hint.charAt(0).toUpperCase()}${hint.slice(1)}`
  return /[.!?]$/.test(message) ? `${message} ${advice}` : `${message}. ${advice}`
}

/** The answer to a failure of the store, told with its hint. */
export const fromStore = (error: StoreError, now: number): ConsoleError => {
  const base = { _tag: (error as { readonly _tag: string })._tag, message: sentences(error) }
  if (error instanceof RateLimitError && error.resetAt !== undefined) {
    const seconds = Math.max(1, Math.ceil((error.resetAt.getTime() - now) / 1000))
    return new ConsoleError({ ...base, status: 429, headers: { "retry-after": String(seconds) } })
  }
  if (error instanceof AmbiguousWriteError) return new ConsoleError({ ...base, status: 502 })
  return new ConsoleError({ ...base, status: statusOf(error) })
}

export const isStoreError = (error: unknown): error is StoreError => error instanceof StoreError

export const notSignedIn = () =>
  new ConsoleError({ _tag: "AuthError", status: 401, message: "There is no session: sign in first." })

export const foreignOrigin = () =>
  new ConsoleError({
    _tag: "ForbiddenOrigin",
    status: 403,
    message: "Requests to this API must come from the console's own page."
  })

export const tooManyAttempts = (seconds: number) =>
  new ConsoleError({
    _tag: "RateLimitError",
    status: 429,
    message: `Too many failed sign-ins: try again in ${seconds} s.`,
    headers: { "retry-after": String(seconds) }
  })
