/** Whether an argument is an option. An argument with a dash and a dot or slash is the path of a file. */
const isOption = (argument: string): boolean => /^--?[^-=./][^=./]*(=|$)/.test(argument)

/** The arguments of a command. `switches` are the options without a value; arguments after `--` are operands. */
const separate = (arguments_: ReadonlyArray<string>, switches: ReadonlySet<string>) => {
  /** Each option, with its value if it has one. */
  const options: Array<ReadonlyArray<string>> = []
  const operands: Array<string> = []
  for (let index = 0; index < arguments_.length; index++) {
    const argument = arguments_[index]!
    if (argument === "--") {
      operands.push(...arguments_.slice(index + 1))
      break
    }
    const [name = "", ...value] = argument.split(/=(.*)/s, 2)
    if (!isOption(argument)) operands.push(argument)
    else if (switches.has(name)) options.push([argument])
    else options.push(value.length === 0 ? arguments_.slice(index, ++index + 1) : [name, ...value])
  }
  return { operands, options }
}

/**
 * Moves options before operands, as `@effect/cli` requires, so that users may write them in any order. `--` separates
 * them: an operand such as `off` would be read as the value of a switch before it.
 */
export const optionsFirst = (
  arguments_: ReadonlyArray<string>,
  switches: ReadonlySet<string>
): ReadonlyArray<string> => {
  const [command, ...rest] = arguments_
  if (command === undefined || command.startsWith("-")) return arguments_
  const { operands, options } = separate(rest, switches)
  return [command, ...options.flat(), ...(operands.length === 0 ? [] : ["--", ...operands])]
}

/** The first option that is given twice. `synonyms` are the spellings of each option that may be given once. */
export const optionGivenTwice = (
  [, ...rest]: ReadonlyArray<string>,
  switches: ReadonlySet<string>,
  synonyms: ReadonlyArray<ReadonlyArray<string>>
): string | undefined => {
  const given = separate(rest, switches).options.map(([option = ""]) => option.split("=", 1)[0]!)
  return synonyms.find((names) => given.filter((name) => names.includes(name)).length > 1)?.at(-1)
}
