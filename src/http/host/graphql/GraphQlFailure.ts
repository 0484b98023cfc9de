import { Cause, Option } from "effect"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import { AmbiguousWriteError, RemoteError } from "../../../domain/errors/StoreError.js"
import { GraphQLError, type GraphQLFormattedError } from "../../../vendor/Graphql.js"
import { HostError } from "../reply/HostError.js"
import type { HandlerFailure } from "../request/Route.js"

/** The `type`s of GitHub's GraphQL errors. */
export type FailureType =
  | "ARGUMENT_LIMIT"
  | "EXCESSIVE_PAGINATION"
  | "FORBIDDEN"
  | "MAX_NODE_LIMIT_EXCEEDED"
  | "MISSING_PAGINATION_BOUNDARIES"
  | "NOT_FOUND"
  | "RATE_LIMITED"
  | "RESOURCE_LIMITS_EXCEEDED"
  | "SERVICE_UNAVAILABLE"
  | "STALE_DATA"
  | "UNPROCESSABLE"

/** Creates an error with GitHub's `type`. */
export const failure = (type: FailureType, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { type } })

/** The error of a reply that would be too large. */
export const resourceLimitsExceeded = (): GraphQLError =>
  failure("RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded.")

const typeOfStatus = (status: number): FailureType =>
  status === 404
    ? "NOT_FOUND"
    : status === 401 || status === 403
      ? "FORBIDDEN"
      : status === 503
        ? "SERVICE_UNAVAILABLE"
        : "UNPROCESSABLE"

/** Converts the cause of a failed effect to a GraphQL error. A defect is not disclosed. */
export const fromCause = (cause: Cause.Cause<HandlerFailure | GraphQLError>): GraphQLError =>
  Option.match(Cause.failureOption(cause), { onNone: () => unavailable(), onSome: fromFailure })

export const unavailable = (): GraphQLError =>
  failure("SERVICE_UNAVAILABLE", "Something went wrong while executing your query.")

const fromFailure = (error: HandlerFailure | GraphQLError): GraphQLError => {
  if (error instanceof GraphQLError) return error
  if (error instanceof HostError) return failure(typeOfStatus(error.status), error.message)
  if (error instanceof RefMoved) return failure("STALE_DATA", error.message)
  if (error instanceof RemoteError || error instanceof AmbiguousWriteError) {
    return unavailable()
  }
  return failure("UNPROCESSABLE", error.message)
}

/** The maximum length of a message, because messages quote the request. */
const maxMessageLength = 2000

const cut = (message: string) =>
  message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}...` : message

/** Formats an error as GitHub does, with `type` beside the message. */
export const format = (error: GraphQLError): GraphQLFormattedError & { readonly type?: unknown } => {
  const type = error.extensions["type"]
  return {
    ...(type === undefined ? {} : { type }),
    ...(error.path === undefined ? {} : { path: error.path }),
    ...(error.locations === undefined ? {} : { locations: error.locations }),
    message: cut(error.message)
  }
}
