import { Args, Options } from "@effect/cli"

export const collectionArgument = Args.text({ name: "collection" }).pipe(
  Args.withDescription("A collection's name")
)
export const idArgument = Args.text({ name: "id" }).pipe(Args.withDescription("A document's id"))

/** An optional option with a text. */
export const textOption = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

/** An optional option with a whole number. */
export const integerOption = (name: string, description: string) =>
  Options.integer(name).pipe(Options.withDescription(description), Options.optional)

export const limitOption = (fallback: number) =>
  Options.integer("limit").pipe(Options.withDescription("At most this many"), Options.withDefault(fallback))

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
