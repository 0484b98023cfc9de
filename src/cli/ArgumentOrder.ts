/** Whether an argument is an option. An argument with a dash and a dot or slash is the path of a file. */
const isOption = (argument: string): boolean => /^--?[^-=./][^=./]*(=|$)/.test(argument)

/**
 * Moves options before operands, as `@effect/cli` requires, so that users may write them in any order. `switches` are
 * the options without a value. Arguments after `--` are not moved.
 */
export const optionsFirst = (
  arguments_: ReadonlyArray<string>,
  switches: ReadonlySet<string>
): ReadonlyArray<string> => {
  const [command, ...rest] = arguments_
  if (command === undefined || command.startsWith("-")) return arguments_
  const options: Array<string> = []
  const operands: Array<string> = []
  for (let index = 0; index < rest.length; index++) {
    const argument = rest[index]!
    if (argument === "--") return [command, ...options, ...operands, ...rest.slice(index)]
    if (!isOption(argument)) operands.push(argument)
    else {
      options.push(argument)
      const value = rest[index + 1]
      if (!switches.has(argument) && !argument.includes("=") && value !== undefined) {
        options.push(value)
        index++
      }
    }
  }
  return [command, ...options, ...operands]
}
