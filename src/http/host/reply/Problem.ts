import { Failure, type HttpError } from "../../server/HttpError.js"
import { jsonType, make, type Reply } from "./Reply.js"

/** One entry of `errors`, as GitHub names what is wrong with a field. */
export interface ProblemDetail {
  readonly resource: string
  readonly field?: string
  readonly code: string
  readonly message?: string
}

interface ProblemFields extends Omit<HttpError, "_tag"> {
  readonly documentation?: string | undefined
  readonly errors?: ReadonlyArray<ProblemDetail> | undefined
}

/** A refusal in GitHub's words. `documentation` is the page's path below docs.github.com; the route's own when absent. */
export class Problem extends Failure<"Problem"> {
  declare readonly documentation: ProblemFields["documentation"]
  declare readonly errors: ProblemFields["errors"]
  constructor(fields: ProblemFields) {
    super({ ...fields, _tag: "Problem" })
  }
}

/** The answer that carries a problem; `status` is a string, as on GitHub. */
export const toReply = (problem: Problem, documentation: string): Reply =>
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

export const notFound = new Problem({ status: 404, message: "Not Found" })

export const unprocessable = (message: string, errors?: ReadonlyArray<ProblemDetail>) =>
  new Problem({ status: 422, message, errors })

export const badRequest = (message: string) => new Problem({ status: 400, message })

export const conflict = (message: string) => new Problem({ status: 409, message })

export const emptyRepository = conflict("Git Repository is empty.")

export const badCredentials = new Problem({ status: 401, message: "Bad credentials", documentation: "rest" })

/** What GitHub answers to everybody at an address from which too many wrong tokens came. */
export const tooManyGuesses = (seconds: number) =>
  new Problem({
    status: 403,
    message: "Maximum number of login attempts exceeded. Please try again later.",
    documentation: "rest",
    headers: { "retry-after": String(seconds) }
  })

export const requiresAuthentication = new Problem({ status: 401, message: "Requires authentication" })

export const notPermitted = (permission: string) =>
  new Problem({
    status: 403,
    message: "Resource not accessible by personal access token",
    headers: { "x-accepted-github-permissions": permission }
  })
