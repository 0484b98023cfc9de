import { EngineError } from "./EngineError.js"

/** A setting of a configuration file. Section and name are in lower case, because Git ignores their case. */
export interface Setting {
  readonly section: string
  readonly subsection: string | undefined
  readonly name: string
  readonly value: string
}

/** The full name of a setting, such as `core.bare`. */
export const settingName = ({ name, section, subsection }: Setting): string =>
  subsection === undefined ? `${section}.${name}` : `${section}.${subsection}.${name}`

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" }

const header = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y
const key = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(=)|(?=\n|$))/y
const blank = /(?:\s|[#;][^\n]*)*/y

/**
 * Parses a configuration file in Git's syntax. Includes are not followed. Throws an `EngineError` if Git would refuse the file.
 */
export const parseConfig = (file: string, source: string): ReadonlyArray<Setting> => {
  const text = source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  const settings: Array<Setting> = []
  let section: string | undefined
  let subsection: string | undefined
  let at = 0
  const syntaxError = () => {
    const line = text.slice(0, at).split("\n").length
    return new EngineError(
      "Corrupt",
      `Line ${line} of ${file} is not valid`,
      "Correct the line, or restore the file"
    )
  }
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  const value = (): string => {
    let read = ""
    // Trailing whitespace is ignored, except in quotes.
    let kept = 0
    let quoted = false
    for (; at < text.length && text[at] !== "\n"; at++) {
      const character = text[at]!
      if (character === '"') quoted = !quoted
      else if (!quoted && (character === "#" || character === ";")) {
        const end = text.indexOf("\n", at)
        at = end < 0 ? text.length : end
        break
      } else if (character === "\\") {
        const next = text[++at]
        if (next === "\n") continue
        const meant = escapes[next ?? ""]
        if (meant === undefined) throw syntaxError()
        read += meant
      } else if (quoted || !/\s/.test(character)) read += character
      else {
        if (read !== "") read += character
        continue
      }
      kept = read.length
    }
    if (quoted) throw syntaxError()
    return read.slice(0, kept)
  }
  for (match(blank); at < text.length; match(blank)) {
    const begun = match(header)
    if (begun !== null) {
      const [, name = "", quoted] = begun
      const dot = name.indexOf(".")
      section = (quoted === undefined && dot >= 0 ? name.slice(0, dot) : name).toLowerCase()
      subsection =
        quoted?.replace(/\\(.)/g, "$1") ?? (dot >= 0 ? name.slice(dot + 1).toLowerCase() : undefined)
      continue
    }
    const named = match(key)
    if (named === null) throw syntaxError()
    const [, name = "", equals] = named
    const settingValue = equals === undefined ? "true" : value()
    if (section !== undefined)
      settings.push({ section, subsection, name: name.toLowerCase(), value: settingValue })
  }
  return settings
}

/** Formats settings as the text of a configuration file. */
export const printConfig = (settings: ReadonlyArray<Setting>): string =>
  settings
    .map(({ name, section, subsection, value }) => {
      const quoted = (text: string) => `"${text.replace(/["\\]/g, "\\$&")}"`
      const below = subsection === undefined ? "" : ` ${quoted(subsection)}`
      const text = quoted(value).replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\b", "\\b")
      return `[${section}${below}]\n\t${name} = ${text}\n`
    })
    .join("")
