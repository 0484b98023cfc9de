import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ValidationError } from "../errors/StoreError.js"
import { type DurationInput, readDuration } from "../time/DurationInput.js"
import { Hint, optionProblems, Shown } from "./OptionProblems.js"

/*
 * Options and arguments are declared as schemas of the kinds below and read by `optionsReader`. It adds defaults and
 * rejects values of another kind and unknown options, for which it suggests the nearest known name.
 */

/** A schema of the values that a predicate accepts. `wanted` completes "must be" in the error message. */
export const valueKind = <A>(
  wanted: string,
  is: (value: unknown) => boolean,
  told: { readonly shown?: boolean; readonly hint?: string } = {}
): Schema.Schema<A> =>
  Schema.declare((value): value is A => is(value)).annotations({
    description: wanted,
    [Shown]: told.shown === true,
    [Hint]: told.hint
  })

/** An optional option. */
export const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(schema)

/** An option with a default. */
export const withDefault = <A, I>(schema: Schema.Schema<A, I>, fallback: A) =>
  Schema.optionalWith(schema, { default: () => fallback as never }) as unknown as Schema.PropertySignature<
    ":",
    A,
    never,
    "?:",
    I | undefined,
    true
  >

export const text = valueKind<string>("a string", (value) => typeof value === "string")

export const flag = valueKind<boolean>("true or false", (value) => typeof value === "boolean")

export const object = valueKind<object>("an object", (value) => typeof value === "object" && value !== null)

export const callback = <F extends (...args: ReadonlyArray<any>) => unknown>() =>
  valueKind<F>("a function", (value) => typeof value === "function")

export const instanceOf = <A>(wanted: string, of: abstract new (...args: any) => A) =>
  valueKind<A>(wanted, (value) => value instanceof of)

export const oneOf = <const A extends string>(...values: ReadonlyArray<A>) =>
  valueKind<A>(
    values.map((value) => JSON.stringify(value)).join(" or "),
    (value) => values.includes(value as A),
    {
      shown: true
    }
  )

export const wholeNumber = (least: number) =>
  valueKind<number>(
    `a whole number, at least ${least}`,
    (value) => Number.isInteger(value) && Number(value) >= least,
    { shown: true }
  )

export const atLeast = (least: number) =>
  valueKind<number>(`a number, at least ${least}`, (value) => typeof value === "number" && value >= least, {
    shown: true
  })

export const above = (least: number) =>
  valueKind<number>(`a number above ${least}`, (value) => Number.isFinite(value) && Number(value) > least, {
    shown: true
  })

export const texts = valueKind<ReadonlyArray<string>>(
  "a list of strings",
  (value) => Array.isArray(value) && value.every((one) => typeof one === "string")
)

export const secret = valueKind<Redacted.Redacted<string>>(
  "Redacted",
  (value) => Redacted.isRedacted(value) && typeof Redacted.value(value) === "string",
  { hint: "wrap it: Redacted.make(token)" }
)

const isPersonal = (value: unknown): value is string => typeof value === "string" && !/[<>\r\n\0]/.test(value)

/** The name and e-mail address of a commit's author. */
export const person = Schema.Struct({
  name: valueKind<string>(
    "a name without '<', '>' and line breaks",
    (value) => isPersonal(value) && value.trim() !== ""
  ),
  email: valueKind<string>("an address without '<', '>' and line breaks", (value) => isPersonal(value))
})

/** A duration. With `positive`, zero is rejected. */
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

/** Makes a function that reads options by a schema. Its `ValidationError` names all problems. */
export const optionsReader = <A, I>(schema: Schema.Schema<A, I>) => {
  const read = ParseResult.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })
  return (operation: string, given: unknown, name = "options"): Either.Either<A, ValidationError> =>
    Either.mapLeft(read(given), (issue) => {
      const problems = optionProblems(issue, "")
      return new ValidationError({
        operation,
        message: problems.map(({ message, path }) => `${path === "" ? name : path} ${message}`).join("; "),
        hint: problems.find(({ hint }) => hint !== undefined)?.hint,
        issues: problems.map(({ message, path }) => ({ path, message }))
      })
    })
}

/** One schema for each option of an interface. A missing or additional one does not compile. */
export type FieldsOf<Options> = { readonly [Name in keyof Required<Options>]: Schema.Struct.Field }

/** The options that are declared in these fields. */
export const pickOptions = <Fields extends object, Options extends object>(
  fields: Fields,
  options: Options
): Pick<Options, keyof Fields & keyof Options> =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(fields, name))) as never
