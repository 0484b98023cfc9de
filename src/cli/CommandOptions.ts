import { Args, HelpDoc, Options, ValidationError as UsageError } from "@effect/cli"
import { Effect } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"

export const collectionArgument = Args.text({ name: "collection" }).pipe(
  Args.withDescription("A collection's name")
)
export const idArgument = Args.text({ name: "id" }).pipe(Args.withDescription("A document's id"))

/** An optional option with a text. */
export const textOption = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

/** Not `Options.integer`, whose error does not name the option. */
const integer = (name: string) =>
  Options.text(name).pipe(
    Options.withPseudoName("integer"),
    Options.mapEffect((text) =>
      /^[+-]?\d+$/.test(text)
        ? Effect.succeed(Number(text))
        : Effect.fail(
            UsageError.invalidValue(HelpDoc.p(`--${name} needs a whole number, not ${JSON.stringify(text)}`))
          )
    )
  )

/** An optional option with a whole number. */
export const integerOption = (name: string, description: string) =>
  integer(name).pipe(Options.withDescription(description), Options.optional)

/** An option with a whole number and a default. */
export const integerOptionWithDefault = (name: string, description: string, fallback: number) =>
  integer(name).pipe(Options.withDescription(description), Options.withDefault(fallback))

export const limitOption = (fallback: number) =>
  integerOptionWithDefault("limit", "At most this many", fallback)

export const atOption = (verb: string) =>
  textOption("at", `${verb} this commit, tag or branch instead of the head`)

export const columnsOption = (verb: string) =>
  Options.text("columns").pipe(
    Options.withDescription(`${verb} these fields, separated by commas`),
    Options.map((text) => text.split(",").map((column) => column.trim())),
    Options.optional
  )

export const messageOption = (description: string) =>
  Options.text("message").pipe(Options.withAlias("m"), Options.withDescription(description), Options.optional)

export const dryRunOption = (description: string) =>
  Options.boolean("dry-run").pipe(Options.withDescription(description))

/** Fails if an option is combined with one that contradicts it. */
export const rejectCombination = (
  operation: string,
  option: string,
  others: { readonly [option: string]: boolean }
) => {
  const other = Object.keys(others).find((name) => others[name])
  return other === undefined
    ? Effect.void
    : Effect.fail(
        new ValidationError({ operation, message: `${option} cannot be given together with ${other}` })
      )
}
