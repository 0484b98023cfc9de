import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as AST from "effect/SchemaAST"
import { nearest } from "../text/NearestName.js"
import { kindOf } from "../text/ValueKind.js"

/** Whether an error message may contain the value. A text may be a secret. */
export const Shown = Symbol.for("chainstore/Options/Shown")
/** The hint of the error for a wrong value. */
export const Hint = Symbol.for("chainstore/Options/Hint")

const shown = (value: unknown): string =>
  typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : typeof value === "string" && value.length <= 40
      ? JSON.stringify(value)
      : kindOf(value)

export interface OptionProblem {
  readonly path: string
  readonly message: string
  readonly hint?: string | undefined
}

const below = (path: string, key: PropertyKey) =>
  typeof key === "number" ? `${path}[${key}]` : path === "" ? String(key) : `${path}.${String(key)}`

const keysOf = ({ path }: ParseResult.Pointer): ReadonlyArray<PropertyKey> =>
  Array.isArray(path) ? path : [path as PropertyKey]

const namesOf = (ast: AST.AST): ReadonlyArray<string> =>
  AST.isTransformation(ast)
    ? namesOf(ast.from)
    : AST.isTypeLiteral(ast)
      ? ast.propertySignatures.map(({ name }) => String(name))
      : []

const unknownOption = (path: string, key: PropertyKey, known: ReadonlyArray<string>): OptionProblem => {
  const meant = nearest(String(key), known)
  return {
    path: below(path, key),
    message:
      meant === undefined
        ? `is not an option; the options are ${known.join(", ")}`
        : `is not an option: did you mean ${below(path, meant)}?`
  }
}

/** Of the problems by the members of a union: those with the deepest path, otherwise the first member's. */
const closest = (each: ReadonlyArray<ReadonlyArray<OptionProblem>>): ReadonlyArray<OptionProblem> => {
  const depth = (problems: ReadonlyArray<OptionProblem>) =>
    Math.max(0, ...problems.map(({ path }) => path.length))
  return each.reduce((best, next) => (depth(next) > depth(best) ? next : best))
}

/** All problems of options with their paths. */
export const optionProblems = (issue: ParseResult.ParseIssue, path: string): ReadonlyArray<OptionProblem> => {
  switch (issue._tag) {
    case "Pointer": {
      return optionProblems(issue.issue, keysOf(issue).reduce(below, path))
    }
    case "Composite": {
      const names = namesOf(issue.ast)
      const issues: ReadonlyArray<ParseResult.ParseIssue> = Array.isArray(issue.issues)
        ? issue.issues
        : [issue.issues as ParseResult.ParseIssue]
      if (AST.isUnion(issue.ast)) return closest(issues.map((one) => optionProblems(one, path)))
      return issues.flatMap((one) =>
        one._tag === "Pointer" && one.issue._tag === "Unexpected"
          ? [unknownOption(path, keysOf(one)[0]!, names)]
          : optionProblems(one, path)
      )
    }
    case "Refinement":
    case "Transformation":
      return optionProblems(issue.issue, path)
    case "Type": {
      if (issue.message !== undefined) return [{ path, message: issue.message }]
      const wanted = Option.getOrElse(AST.getDescriptionAnnotation(issue.ast), () => "an object")
      const it = issue.ast.annotations[Shown] === true ? shown(issue.actual) : kindOf(issue.actual)
      const hint = issue.ast.annotations[Hint] as string | undefined
      return [{ path, message: `must be ${wanted}, it is ${it}`, hint }]
    }
    case "Missing":
      return [{ path, message: "is missing" }]
    default:
      return [{ path, message: "is not allowed here" }]
  }
}
