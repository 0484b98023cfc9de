import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { type DurationInput, readDuration } from "./DurationInput.js"
import { ValidationError } from "./StoreError.js"

/**
 * Options and arguments are declared as schemas of the kinds below, and read by `reader` alone: it fills in the
 * defaults, refuses a value of another kind and an option that is not known, and names the nearest known one.
 */

/** Whether an error may repeat a value of this kind; texts may be secrets. */
const Shown = Symbol.for("chainstore/Options/Shown")
/** What to do where a value is not of this kind. */
const Hint = Symbol.for("chainstore/Options/Hint")

/** Values that a predicate accepts; `wanted` completes "must be". */
export const kind = <A>(
  wanted: string,
  is: (value: unknown) => boolean,
  told: { readonly shown?: boolean; readonly hint?: string } = {}
): Schema.Schema<A> =>
  Schema.declare((value): value is A => is(value)).annotations({
    description: wanted,
    [Shown]: told.shown === true,
    [Hint]: told.hint
  })

/** What may be left out. */
export const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(schema)

/** What has a value where it is left out. */
export const or = <A, I>(schema: Schema.Schema<A, I>, fallback: A) =>
  Schema.optionalWith(schema, { default: () => fallback as never }) as unknown as Schema.PropertySignature<
    ":",
    A,
    never,
    "?:",
    I | undefined,
    true
  >

export const text = kind<string>("a string", (value) => typeof value === "string")

export const flag = kind<boolean>("true or false", (value) => typeof value === "boolean")

export const object = kind<object>("an object", (value) => typeof value === "object" && value !== null)

export const callback = <F extends (...args: ReadonlyArray<any>) => unknown>() =>
  kind<F>("a function", (value) => typeof value === "function")

export const instanceOf = <A>(wanted: string, of: abstract new (...args: any) => A) =>
  kind<A>(wanted, (value) => value instanceof of)

export const oneOf = <const A extends string>(...values: ReadonlyArray<A>) =>
  kind<A>(values.map((value) => JSON.stringify(value)).join(" or "), (value) => values.includes(value as A), {
    shown: true
  })

export const wholeNumber = (least: number) =>
  kind<number>(
    `a whole number, at least ${least}`,
    (value) => typeof value === "number" && Number.isInteger(value) && value >= least,
    { shown: true }
  )

export const atLeast = (least: number) =>
  kind<number>(`a number, at least ${least}`, (value) => typeof value === "number" && value >= least, {
    shown: true
  })

export const above = (least: number) =>
  kind<number>(
    `a number above ${least}`,
    (value) => typeof value === "number" && Number.isFinite(value) && value > least,
    { shown: true }
  )

export const texts = kind<ReadonlyArray<string>>(
  "a list of strings",
  (value) => Array.isArray(value) && value.every((one) => typeof one === "string")
)

export const secret = kind<Redacted.Redacted<string>>(
  "Redacted",
  (value) => Redacted.isRedacted(value) && typeof Redacted.value(value) === "string",
  { hint: "wrap it: Redacted.make(token)" }
)

const isPersonal = (value: unknown): value is string => typeof value === "string" && !/[<>\r\n\0]/.test(value)

/** A name and an address as Git writes them into a commit. */
export const person = Schema.Struct({
  name: kind<string>(
    "a name without '<', '>' and line breaks",
    (value) => isPersonal(value) && value.trim() !== ""
  ),
  email: kind<string>("an address without '<', '>' and line breaks", (value) => isPersonal(value))
})

/** A length of time; `positive` refuses one of nothing. */
export const duration = (how: { readonly positive?: boolean } = {}) =>
  Schema.transformOrFail(Schema.Unknown as unknown as Schema.Schema<DurationInput>, Schema.DurationFromSelf, {
    strict: false,
    decode: (given, _options, ast) =>
      Either.mapLeft(
        Either.filterOrLeft(
          readDuration(given),
          (found) => how.positive !== true || found.value._tag !== "Millis" || found.value.millis > 0,
          () => "must be longer than nothing"
        ),
        (message) => new ParseResult.Type(ast, given, message)
      ),
    encode: (found) => ParseResult.succeed(found as never)
  })

/** What a value is, for the message that refuses it. */
const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return "a list"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

const shown = (value: unknown): string =>
  typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : typeof value === "string" && value.length <= 40
      ? JSON.stringify(value)
      : kindOf(value)

/** How many single changes of a letter make one name of the other. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const change = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[other.length]!
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "")

/** The known name that an unknown one was probably meant to be. */
export const nearest = (unknown: string, known: ReadonlyArray<string>): string | undefined => {
  const meant = plain(unknown)
  const judged = known.map((name) => {
    const other = plain(name)
    const [short, long] = meant.length < other.length ? [meant, other] : [other, meant]
    const begins = short.length >= 3 && long.startsWith(short)
    return { name, far: begins && short !== long ? 0.5 : distance(meant, other) }
  })
  const [best] = judged.sort((a, b) => a.far - b.far)
  return best !== undefined && best.far <= Math.max(1, meant.length / 3) ? best.name : undefined
}

interface Problem {
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

const unknownOption = (path: string, key: PropertyKey, known: ReadonlyArray<string>): Problem => {
  const meant = nearest(String(key), known)
  return {
    path: below(path, key),
    message:
      meant === undefined
        ? `is not an option; the options are ${known.join(", ")}`
        : `is not an option: did you mean ${below(path, meant)}?`
  }
}

/** Of what is wrong with a value by each of several kinds: what lies deepest in it, or else what is said first. */
const closest = (each: ReadonlyArray<ReadonlyArray<Problem>>): ReadonlyArray<Problem> => {
  const depth = (problems: ReadonlyArray<Problem>) => Math.max(0, ...problems.map(({ path }) => path.length))
  return each.reduce((best, next) => (depth(next) > depth(best) ? next : best), each[0] ?? [])
}

const problemsIn = (issue: ParseResult.ParseIssue, path: string): ReadonlyArray<Problem> => {
  switch (issue._tag) {
    case "Pointer": {
      return problemsIn(issue.issue, keysOf(issue).reduce(below, path))
    }
    case "Composite": {
      const known = namesOf(issue.ast)
      const issues: ReadonlyArray<ParseResult.ParseIssue> = Array.isArray(issue.issues)
        ? issue.issues
        : [issue.issues as ParseResult.ParseIssue]
      if (AST.isUnion(issue.ast)) return closest(issues.map((one) => problemsIn(one, path)))
      return issues.flatMap((one) =>
        one._tag === "Pointer" && one.issue._tag === "Unexpected"
          ? [unknownOption(path, keysOf(one)[0]!, known)]
          : problemsIn(one, path)
      )
    }
    case "Refinement":
    case "Transformation":
      return problemsIn(issue.issue, path)
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

/** Reads what a caller gave by its schema; a `ValidationError` names everything that is wrong. */
export const reader = <A, I>(schema: Schema.Schema<A, I>) => {
  const read = ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  return (operation: string, given: unknown, name = "options"): Either.Either<A, ValidationError> =>
    Either.mapLeft(read(given), (issue) => {
      const problems = problemsIn(issue, "")
      return new ValidationError({
        operation,
        message: problems.map(({ message, path }) => `${path === "" ? name : path} ${message}`).join("; "),
        hint: problems.find(({ hint }) => hint !== undefined)?.hint,
        issues: problems.map(({ message, path }) => ({ path, message }))
      })
    })
}

/** The fields of an interface of options, each declared: a missing or a superfluous one does not compile. */
export type FieldsOf<Options> = { readonly [Name in keyof Required<Options>]: Schema.Struct.Field }

/** Those of some options that are declared in these fields. */
export const only = <Fields extends object, Options extends object>(
  fields: Fields,
  options: Options
): Pick<Options, keyof Fields & keyof Options> =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(fields, name))) as never
