import { CliConfig, Command, type HelpDoc, type Span } from "@effect/cli"

const width = 100

/** Sentences that `@effect/cli` adds to the help of every option of a kind. */
const boilerplate =
  /^(A user-defined piece of text\.|A true or false value\.|An integer\.|This setting is optional\.|This option can be set from environment variables\.|One of the following: .*|)$/

interface Entry {
  readonly term: string
  readonly about: string
  /** Whether the argument is optional. */
  readonly isOptional?: boolean
}

/** The name of a command and its help by `@effect/cli`. */
export interface CommandHelp {
  readonly name: string
  readonly doc: HelpDoc.HelpDoc
}

export const commandHelp = (command: Command.Command<any, any, any, any>): CommandHelp => ({
  name: Array.from(Command.getNames(command)).join(),
  doc: Command.getHelp(command, CliConfig.defaultConfig)
})

/** The options of a command without a value. */
export const switchesOf = ({ doc }: CommandHelp): ReadonlySet<string> =>
  new Set(
    entriesOf(doc, "OPTIONS").flatMap(({ term }) =>
      /^-[^ ]+(, -[^ ]+)*$/.test(term) ? term.split(", ") : []
    )
  )

/** The spellings of each option that may be given once. */
export const singleOptionsOf = ({ doc }: CommandHelp): ReadonlyArray<ReadonlyArray<string>> =>
  entriesOf(doc, "OPTIONS").flatMap(({ term }) =>
    term.endsWith("...") ? [] : [term.match(/(?<=^|, )-[^ ,]+/g) ?? []]
  )

/** The options of the connection, in the order of their help section. */
const connection = [
  "repo",
  "branch",
  "root",
  "directory",
  "api-url",
  "commit-via",
  "git-url",
  "token",
  "index",
  "manifest",
  "shard-by",
  "shard-depth",
  "shard-width"
]

const builtIn: ReadonlyArray<Entry> = [
  { term: "-h, --help", about: "Show this help" },
  { term: "--version", about: "Show the version" },
  { term: "--completions sh | bash | fish | zsh", about: "Print a completion script for a shell" },
  { term: "--wizard", about: "Ask for the arguments one by one" },
  { term: "--log-level LEVEL", about: "all, trace, debug, info, warning, error, fatal or none" }
]

const everywhere = /--(help|version|completions|wizard|log-level)\b/

const exitCodes: ReadonlyArray<Entry> = [
  { term: "0", about: "success" },
  { term: "2", about: "wrong usage, or a value that breaks a rule" },
  { term: "3", about: "not found" },
  { term: "4", about: "conflict" },
  { term: "5", about: "no permission" },
  { term: "6", about: "rate limit" },
  { term: "7", about: "the repository cannot be reached or used" },
  { term: "8", about: "a write with an unknown outcome" },
  { term: "9", about: "a file, source or destination failed" },
  { term: "10", about: "doctor found an error" },
  { term: "130", about: "interrupted" },
  { term: "141", about: "the reader of the output closed it" }
]

/** The help as plain text if the arguments request it; otherwise undefined. */
export const helpFor = (
  program: string,
  about: string,
  commands: ReadonlyArray<CommandHelp>,
  arguments_: ReadonlyArray<string>
): string | undefined => {
  const end = arguments_.indexOf("--")
  const given = end === -1 ? arguments_ : arguments_.slice(0, end)
  if (given.length > 0 && !given.includes("--help") && !given.includes("-h")) return undefined
  const found = commands.find(({ name }) => name === given[0])
  return found === undefined ? ofProgram(program, about, commands) : ofCommand(program, found)
}

const ofProgram = (program: string, about: string, commands: ReadonlyArray<CommandHelp>) =>
  [
    about,
    `Usage: ${program} COMMAND [OPTIONS] [ARGUMENTS]`,
    section(
      "Commands",
      commands.map(({ doc, name }) => ({ term: name, about: descriptionOf(doc) }))
    ),
    section("Options", builtIn),
    section("Exit codes", exitCodes),
    `${program} COMMAND --help shows the options of a command.`
  ].join("\n\n")

const ofCommand = (program: string, { doc, name }: CommandHelp) => {
  const operands = entriesOf(doc, "ARGUMENTS")
  const options = entriesOf(doc, "OPTIONS").filter(({ term }) => !everywhere.test(term))
  const position = ({ term }: Entry) => connection.indexOf(/--([a-z-]+)/.exec(term)?.[1] ?? "")
  const own = options.filter((entry) => position(entry) === -1)
  const shared = options
    .filter((entry) => position(entry) !== -1)
    .toSorted((a, b) => position(a) - position(b))
  const usage = [
    program,
    name,
    ...(options.length > 0 ? ["[OPTIONS]"] : []),
    ...operands.map(({ isOptional, term }) => (isOptional === true ? `[${term}]` : term))
  ]
  return [
    wrapped(descriptionOf(doc), width).join("\n"),
    `Usage: ${usage.join(" ")}`,
    section("Arguments", operands),
    section("Options", own),
    section("Which repository, and how a new one is laid out", shared)
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

/** A list of terms with their explanations below a heading. */
export const section = (heading: string, entries: ReadonlyArray<Entry>): string => {
  if (entries.length === 0) return ""
  const indent = Math.min(34, Math.max(...entries.map(({ term }) => term.length))) + 4
  const lines = entries.flatMap(({ about, term }) => {
    const [first = "", ...rest] = wrapped(about, width - indent)
    const head =
      term.length + 4 > indent
        ? [`  ${term}`, " ".repeat(indent) + first]
        : [`  ${term}`.padEnd(indent) + first]
    return [...head, ...rest.map((line) => " ".repeat(indent) + line)]
  })
  return [`${heading}:`, ...lines].join("\n")
}

const wrapped = (text: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

const parts = (doc: HelpDoc.HelpDoc): ReadonlyArray<HelpDoc.HelpDoc> =>
  doc._tag === "Sequence" ? [...parts(doc.left), ...parts(doc.right)] : doc._tag === "Empty" ? [] : [doc]

/** The parts of the section with a heading. */
const under = (doc: HelpDoc.HelpDoc, heading: string) => {
  const all = parts(doc)
  const start = all.findIndex((part) => part._tag === "Header" && textOf(part.value) === heading)
  if (start === -1) return []
  const end = all.findIndex((part, index) => index > start && part._tag === "Header")
  return all.slice(start + 1, end === -1 ? undefined : end)
}

const descriptionOf = (doc: HelpDoc.HelpDoc) => paragraphs(under(doc, "DESCRIPTION"))

const entriesOf = (doc: HelpDoc.HelpDoc, heading: string): ReadonlyArray<Entry> =>
  under(doc, heading).flatMap((part) =>
    part._tag === "DescriptionList"
      ? part.definitions.map(([term, about]) => ({
          term: textOf(term)
            .replace(/^\((.*)\)$/, "$1")
            .replace(/ (text|integer)(\.\.\.)?$/, (kind) => kind.toUpperCase()),
          about: paragraphs(parts(about)),
          isOptional: parts(about).some(
            (part) => part._tag === "Paragraph" && textOf(part.value) === "This setting is optional."
          )
        }))
      : []
  )

const paragraphs = (docs: ReadonlyArray<HelpDoc.HelpDoc>) =>
  docs
    .flatMap((part) => (part._tag === "Paragraph" ? [textOf(part.value)] : []))
    .filter((text) => !boilerplate.test(text))
    .join(" ")

const textOf = (span: Span.Span): string =>
  span._tag === "Sequence"
    ? textOf(span.left) + textOf(span.right)
    : typeof span.value === "string"
      ? span.value
      : textOf(span.value)
