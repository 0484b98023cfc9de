import { ParseResult } from "effect"

interface Problem {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

// A 1 MiB body can have a million problems. Listing them all would take seconds and megabytes.
const maxProblems = 1000

const nameOf = (key: PropertyKey): string => {
  const text = String(key)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

const pathOf = (path: ReadonlyArray<PropertyKey>): string => {
  if (path.length === 0) return "the body"
  let text = ""
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`
    else if (/^[A-Za-z_$][\w$]{0,59}$/.test(String(key)))
      text += text === "" ? String(key) : `.${String(key)}`
    else text += `[${JSON.stringify(nameOf(key))}]`
  }
  return text
}

function* flatten(issue: ParseResult.ParseIssue, at: ReadonlyArray<PropertyKey>): Generator<Problem> {
  if (issue._tag === "Pointer") {
    yield* flatten(issue.issue, at.concat(issue.path))
  } else if (issue._tag === "Composite" && Array.isArray(issue.issues) && issue.ast._tag !== "Union") {
    for (const inner of issue.issues) yield* flatten(inner, at)
  } else if (
    ((issue._tag === "Refinement" && issue.kind === "From") ||
      (issue._tag === "Transformation" && issue.kind === "Encoded")) &&
    issue.issue._tag === "Composite"
  ) {
    yield* flatten(issue.issue, at)
  } else {
    for (const { message, path } of ParseResult.ArrayFormatter.formatIssueSync(issue)) {
      yield { path: at.concat(path), message }
    }
  }
}

const sentence = (what: string, problems: Iterable<Problem>): string => {
  const named: Array<string> = []
  for (const problem of problems) {
    if (named.length === maxProblems) {
      named.push("and more")
      break
    }
    named.push(`${pathOf(problem.path)} ${problem.message}`)
  }
  return `${what} is invalid: ${named.join("; ")}.`
}

const body = "The request body"

/** One sentence that lists every problem of an invalid body, at most the first thousand. */
export const forBody = (issue: ParseResult.ParseIssue): string => sentence(body, flatten(issue, []))

/** The same sentence for the issues of an `HttpApiDecodeError`. */
export const forBodyIssues = (issues: Iterable<Problem>): string => sentence(body, issues)

/** The same sentence for any part of a request, such as its query or headers. */
export const forRequest = (issue: ParseResult.ParseIssue): string =>
  sentence("The request", flatten(issue, []))
