import { HttpApiError, HttpServerError, HttpServerResponse } from "@effect/platform"
import { Cause, ParseResult } from "effect"
import {
  type HttpError,
  InternalError,
  isHttpError,
  MethodNotAllowed,
  NotFound,
  ValidationError
} from "./HttpError.js"
import * as RequestBody from "./RequestBody.js"
import * as ValidationMessage from "./ValidationMessage.js"

const fromError = (error: unknown): HttpError | undefined => {
  if (isHttpError(error)) return error
  if (error instanceof HttpApiError.HttpApiDecodeError) {
    return new ValidationError({ message: ValidationMessage.forBodyIssues(error.issues) })
  }
  if (ParseResult.isParseError(error)) {
    return new ValidationError({ message: ValidationMessage.forRequest(error.issue) })
  }
  if (error instanceof HttpServerError.RouteNotFound) {
    return notFound(error.request.method, error.request.originalUrl)
  }
  if (error instanceof HttpServerError.RequestError) {
    if (isHttpError(error.cause)) return error.cause
    if (error.reason === "Decode") return RequestBody.notJson()
  }
  return undefined
}

/** A 404 error for a path without an operation. */
export const notFound = (method: string, url: string): NotFound =>
  new NotFound({ message: `No operation matches ${method} ${url.split("?", 1)[0]!.slice(0, 200)}.` })

/** A 500 error that names the request id under which the cause is logged. */
export const internal = (requestId: string): InternalError =>
  new InternalError({
    message: `Internal server error. The cause is in the server's log under request id ${requestId}.`
  })

/** The `HttpError` of an expected failure; undefined for a server fault, which must be logged. */
export const fromCause = (cause: Cause.Cause<unknown>): HttpError | undefined =>
  fromError(Cause.squash(cause))

const allow = (methods: ReadonlyArray<string>): string =>
  Array.from(new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])).join(", ")

/** A 405 error with `Allow`, for a path that has other methods. */
export const methodNotAllowed = (
  method: string,
  path: string,
  methods: ReadonlyArray<string>
): MethodNotAllowed =>
  new MethodNotAllowed({
    message: `${path.slice(0, 200)} does not support ${method}. Supported methods: ${allow(methods)}.`,
    headers: { allow: allow(methods) }
  })

/** The reply to OPTIONS at a path. */
export const optionsReply = (methods: ReadonlyArray<string>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({ status: 204, headers: { allow: allow(methods) } })
