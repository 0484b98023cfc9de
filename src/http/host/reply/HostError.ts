import { Failure, type HttpError } from "../../server/HttpError.js"
import { jsonType, make, type Reply } from "./Reply.js"

/** One entry of `errors` in GitHub's error body. */
export interface HostErrorDetail {
  readonly resource: string
  readonly field?: string
  readonly code: string
  readonly message?: string
}

interface HostErrorFields extends Omit<HttpError, "_tag"> {
  readonly documentation?: string | undefined
  readonly errors?: ReadonlyArray<HostErrorDetail> | undefined
}

/**
 * An error reply in GitHub's format. `documentation` is the path of a page on docs.github.com. Default: the page of
 * the route.
 */
export class HostError extends Failure<"HostError"> {
  declare readonly documentation: HostErrorFields["documentation"]
  declare readonly errors: HostErrorFields["errors"]
  constructor(fields: HostErrorFields) {
    super({ ...fields, _tag: "HostError" })
  }
}

/** The reply of an error. `status` in the body is a string, as on GitHub. */
export const toReply = (problem: HostError, documentation: string): Reply =>
  make(
    problem.status,
    { "content-type": jsonType, ...problem.headers },
    JSON.stringify({
      message: problem.message,
      ...(problem.errors === undefined ? {} : { errors: problem.errors }),
      documentation_url: `https://docs.github.com/${problem.documentation ?? documentation}`,
      status: String(problem.status)
    })
  )

export const notFound = new HostError({ status: 404, message: "Not Found" })

export const unprocessable = (message: string, errors?: ReadonlyArray<HostErrorDetail>) =>
  new HostError({ status: 422, message, errors })

export const badRequest = (message: string) => new HostError({ status: 400, message })

export const conflict = (message: string) => new HostError({ status: 409, message })

export const emptyRepository = conflict("Git Repository is empty.")

export const badCredentials = new HostError({
  status: 401,
  message: "Bad credentials",
  documentation: "rest"
})

/** GitHub's error for an address with too many failed logins. */
export const tooManyFailedLogins = (seconds: number) =>
  new HostError({
    status: 403,
    message: "Maximum number of login attempts exceeded. Please try again later.",
    documentation: "rest",
    headers: { "retry-after": String(seconds) }
  })

export const requiresAuthentication = new HostError({ status: 401, message: "Requires authentication" })

export const notPermitted = (permission: string) =>
  new HostError({
    status: 403,
    message: "Resource not accessible by personal access token",
    headers: { "x-accepted-github-permissions": permission }
  })
