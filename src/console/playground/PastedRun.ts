import type { ChainDraft } from "./ChainDraft.js"

/** A body and its chain, or why the text contains none. */
export type PastedRun =
  | { readonly mode: ChainDraft["mode"]; readonly body: unknown }
  | { readonly problem: string }

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" }

/** A character by its code, as browsers write it when they copy a request as a command. */
const byCode = /u([\da-f]{1,4})|x([\da-f]{1,2})/iy

/** The words of a shell command, with quotes, `$'...'` and backslashes parsed as in bash; undefined if a quote is not closed. */
export const shellWords = (command: string): ReadonlyArray<string> | undefined => {
  const words: Array<string> = []
  let word: string | undefined
  let quote: "'" | '"' | "$'" | undefined
  for (let at = 0; at < command.length; at++) {
    const char = command[at]!
    if (quote === undefined) {
      if (/\s/.test(char)) {
        if (word !== undefined) words.push(word)
        word = undefined
      } else if (char === "\\") {
        const next = command[++at] ?? ""
        if (next !== "\n") word = (word ?? "") + next
      } else if (char === "'" || char === '"') {
        quote = char
        word ??= ""
      } else if (char === "$" && command[at + 1] === "'") {
        at++
        quote = "$'"
        word ??= ""
      } else word = (word ?? "") + char
    } else if (char === (quote === '"' ? '"' : "'")) quote = undefined
    else if (char === "\\" && quote === "$'") {
      byCode.lastIndex = at + 1
      const [escape, wide, narrow] = byCode.exec(command) ?? []
      if (escape === undefined) {
        const next = command[++at] ?? ""
        word += escapes[next] ?? next
      } else {
        at += escape.length
        word += String.fromCharCode(Number.parseInt(wide ?? narrow!, 16))
      }
    } else if (char === "\\" && quote === '"' && /["\\$`\n]/.test(command[at + 1] ?? "")) {
      const next = command[++at]!
      if (next !== "\n") word += next
    } else word += char
  }
  if (word !== undefined) words.push(word)
  return quote === undefined ? words : undefined
}

const dataOptions = ["-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json"]

const dataOf = (words: ReadonlyArray<string>): string | undefined => {
  for (const [i, word] of words.entries()) {
    if (dataOptions.includes(word)) return words[i + 1]
    const long = dataOptions.find((option) => option.startsWith("--") && word.startsWith(`${option}=`))
    if (long !== undefined) return word.slice(long.length + 1)
    if (/^-d./.test(word)) return word.slice(2)
  }
  return undefined
}

const ofJson = (text: string, isTicket: boolean | undefined): PastedRun => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    return { problem: "The JSON of a run is an object with request and handlers, or a ticket." }
  }
  return { mode: (isTicket ?? (!("handlers" in body) && "kind" in body)) ? "triage" : "own", body }
}

/** Reads the JSON of a run, or a curl command that sends it. */
export const parsePastedRun = (text: string): PastedRun => {
  if (!/^\s*(\$\s+)?curl\s/.test(text)) return ofJson(text, undefined)
  const words = shellWords(
    text
      .trim()
      .replace(/^\$\s+/, "")
      .replaceAll("\r\n", "\n")
  )
  if (words === undefined) return { problem: "The curl command has a quote that is never closed." }
  const data = dataOf(words)
  if (data === undefined)
    return { problem: "The curl command sends no body: it needs -d with the JSON of a run." }
  if (data.startsWith("@"))
    return { problem: "The curl command reads its body from a file: paste the JSON itself." }
  return ofJson(data, words.some((word) => word.includes("/chains/ticket-triage/")) || undefined)
}
