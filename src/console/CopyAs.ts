import type { SessionView } from "../http/console/Api.js"
import type { Place } from "./Place.js"

const shell = (text: string) => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** The same query as code: for a program, for a terminal, and for the local server's API. */
export const queryAs = (
  kind: "TypeScript" | "Command line" | "curl",
  session: SessionView,
  place: Place
): string => {
  const collection = place.table ?? ""
  const filters = place.filters
  const [only] = filters
  const simple = filters.length === 1 && only?.operator === "is" && !only.path.includes(".")
  switch (kind) {
    case "TypeScript":
      return simple
        ? `const documents = yield* store.collection(${JSON.stringify(collection)})\n  .findBy(${JSON.stringify(only.path)}, ${JSON.stringify(only.value)}, { limit: ${place.limit} })\n`
        : `import { matchesAll } from "chainstore/store"\n\nconst filters = ${JSON.stringify(filters, null, 2)} as const\nconst documents = store.collection(${JSON.stringify(collection)})\n  .find((document) => matchesAll(document, filters), { limit: ${place.limit} })\n`
    case "Command line":
      return `${[
        "chainstore query",
        collection,
        ...(simple
          ? [
              shell(
                `${only.path}=${typeof only.value === "string" ? only.value : JSON.stringify(only.value)}`
              )
            ]
          : []),
        "--limit",
        String(place.limit),
        "--repo",
        session.repo,
        "--branch",
        session.branch,
        "--root",
        shell(session.root)
      ].join(" ")}\n`
    case "curl":
      return `curl -b "$COOKIES" -H 'Content-Type: application/json' -H "Origin: $CONSOLE" "$CONSOLE/api/query" -d ${shell(
        JSON.stringify({
          collection,
          filters,
          limit: place.limit,
          ...(place.at === undefined ? {} : { at: place.at })
        })
      )}\n`
  }
}
