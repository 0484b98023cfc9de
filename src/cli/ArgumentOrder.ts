/** Whether an argument is spelled as an option: the path of a file that begins with a dash has a dot or a slash. */
const isOption = (argument: string): boolean => /^--?[^-=./][^=./]*(=|$)/.test(argument)

/**
 * The arguments with options before operands, which is the order that the parser needs, so that people may write them
 * in any order. `switches` are the options without a value. Arguments after `--` keep their places.
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
