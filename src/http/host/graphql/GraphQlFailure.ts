import { Cause, Option } from "effect"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import { AmbiguousWriteError, RemoteError } from "../../../domain/errors/StoreError.js"
import { GraphQLError, type GraphQLFormattedError } from "../../../vendor/Graphql.js"
import { HostError } from "../reply/HostError.js"
import type { HandlerFailure } from "../request/Route.js"

/** The types by which GitHub's GraphQL errors are told apart. */
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

/** An error with GitHub's `type`. */
export const failure = (type: FailureType, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { type } })

/** One answer may not hold more. */
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

/** What a failed effect looks like in a GraphQL answer; a defect shows nothing of itself. */
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

/** Messages repeat what was sent, which may be long. */
const maxMessageLength = 2000

const cut = (message: string) =>
  message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}...` : message

/** An error as GitHub writes it: `type` stands beside the message. */
export const format = (error: GraphQLError): GraphQLFormattedError & { readonly type?: unknown } => {
  const type = error.extensions["type"]
  return {
    ...(type === undefined ? {} : { type }),
    ...(error.path === undefined ? {} : { path: error.path }),
    ...(error.locations === undefined ? {} : { locations: error.locations }),
    message: cut(error.message)
  }
}
