/** Options that take no value, of every command. */
const switches = new Set([
  "--json",
  "--count",
  "--token",
  "--dry-run",
  "--deep",
  "--merge",
  "--insert",
  "--force",
  "--sha",
  "--guard-formulas",
  "--help",
  "-h",
  "--version",
  "--wizard"
])

/**
 * The arguments with options before operands, as the parser wants them, so that people may write them in any order.
 * What follows `--` is left alone.
 */
export const optionsFirst = (arguments_: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [command, ...rest] = arguments_
  if (command === undefined || command.startsWith("-")) return arguments_
  const options: Array<string> = []
  const operands: Array<string> = []
  for (let index = 0; index < rest.length; index++) {
    const argument = rest[index]!
    if (argument === "--") return [command, ...options, ...operands, ...rest.slice(index)]
    if (!argument.startsWith("-") || argument === "-") operands.push(argument)
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
