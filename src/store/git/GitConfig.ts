const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\\": "\\", '"': '"' }

/** The value that begins at `at` and where its line ends; undefined where a quote or an escape is broken. */
const valueAt = (text: string, at: number): { readonly value: string; readonly end: number } | undefined => {
  let value = ""
  let kept = 0
  let quoted = false
  let i = at
  for (; i < text.length && text[i] !== "\n"; i++) {
    const char = text[i]!
    if (char === "\\") {
      const next = text[i + 1] === "\r" && text[i + 2] === "\n" ? "\r\n" : (text[i + 1] ?? "")
      i += next.length
      if (next === "\n" || next === "\r\n") continue
      if (escapes[next] === undefined) return undefined
      value += escapes[next]
      kept = value.length
    } else if (char === '"') quoted = !quoted
    else if (!quoted && (char === "#" || char === ";")) {
      while (i < text.length && text[i] !== "\n") i++
      break
    } else if (value !== "" || quoted || !/\s/.test(char)) {
      value += char
      if (quoted || !/\s/.test(char)) kept = value.length
    }
  }
  return quoted ? undefined : { value: value.slice(0, kept), end: i }
}

const section = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]/y
const key = /([A-Za-z][A-Za-z0-9-]*)[ \t\r]*(=|(?=[\n#;])|$)/y
const blank = /(?:\s|[#;][^\n]*)*/y

/**
 * The settings of a Git configuration file by their names in lower case, the last value of each; undefined where Git
 * could not read it either. Files that it includes are not read.
 */
export const parseConfig = (text: string): ReadonlyMap<string, string> | undefined => {
  const settings = new Map<string, string>()
  let prefix: string | undefined
  let at = text.startsWith("\ufeff") ? 1 : 0
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  for (;;) {
    match(blank)
    if (at >= text.length) return settings
    const header = match(section)
    if (header !== null) {
      prefix = header[1]!.toLowerCase() + (header[2] === undefined ? "" : `.${header[2]}`)
      continue
    }
    const setting = match(key)
    if (setting === null || prefix === undefined) return undefined
    const given = setting[2] === "=" ? valueAt(text, at) : { value: "true", end: at }
    if (given === undefined) return undefined
    settings.set(`${prefix}.${setting[1]!.toLowerCase()}`, given.value)
    at = given.end
  }
}
