import type { SessionView } from "../http/console/Api.js"
import { printValue } from "../store/browse/Filter.js"
import type { Place } from "./Place.js"

const shell = (text: string) => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

export const codes = ["TypeScript", "Command line", "curl"] as const
export type Code = (typeof codes)[number]

/** Whether the filters are one that the library and the command line have a way of their own for. */
const isSimple = ({ filters }: Place): boolean =>
  filters.length === 1 && filters[0]!.operator === "is" && !filters[0]!.path.includes(".")

/** Whether a form of code can say all that the query asks: the command line knows one field and its value. */
export const canSay = (code: Code, place: Place): boolean =>
  code !== "Command line" || place.filters.length === 0 || isSimple(place)

/** The same query as code: for a program, for a terminal, and for the local server's API. */
export const queryAs = (kind: Code, session: SessionView, place: Place): string => {
  const name = place.table ?? ""
  const { at, filters, limit } = place
  const [only] = filters
  switch (kind) {
    case "TypeScript": {
      const view = at === undefined ? "store" : "view"
      const opened = at === undefined ? "" : `const view = yield* store.at(${JSON.stringify(at)})\n`
      const collection = `${view}.collection(${JSON.stringify(name)})`
      if (filters.length === 0) {
        return `${opened}const { documents } = yield* ${collection}.page({ limit: ${limit} })\n`
      }
      return isSimple(place)
        ? `${opened}const documents = yield* ${collection}\n  .findBy(${JSON.stringify(only?.path)}, ${JSON.stringify(only?.value)}, { limit: ${limit} })\n`
        : `import { matchesAll } from "chainstore/store"\n\nconst filters = ${JSON.stringify(filters, null, 2)} as const\n${opened}const documents = ${collection}\n  .find((document) => matchesAll(document, filters), { limit: ${limit} })\n`
    }
    case "Command line":
      return `${[
        "chainstore query",
        shell(name),
        ...(only === undefined
          ? []
          : [
              "--field",
              shell(only.path),
              "--value",
              shell(typeof only.value === "string" ? printValue(only.value) : JSON.stringify(only.value))
            ]),
        "--limit",
        String(limit),
        ...(at === undefined ? [] : ["--at", shell(at)]),
        "--repo",
        shell(session.repo),
        "--branch",
        shell(session.branch),
        "--root",
        shell(session.root)
      ].join(" ")}\n`
    case "curl":
      return `curl -b "$COOKIES" -H 'Content-Type: application/json' -H "Origin: $CONSOLE" "$CONSOLE/api/query" -d ${shell(
        JSON.stringify({ collection: name, filters, limit, ...(at === undefined ? {} : { at }) })
      )}\n`
  }
}
