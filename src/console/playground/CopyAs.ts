import { bodyOf, type Draft, number, pathOf } from "./Draft.js"

export const languages = ["curl", "TypeScript", "JSON"] as const
export type Language = (typeof languages)[number]

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const condition = { equals: "===", lessThan: "<", greaterThan: ">" } as const

const template = (text: string) =>
  text.includes("{request}")
    ? `\`${text
        .replaceAll("\\", "\\\\")
        .replaceAll("`", "\\`")
        .replaceAll("$", "\\$")
        .replaceAll("{request}", () => ["$", "{request}"].join(""))}\``
    : JSON.stringify(text)

/** A value that is not a number becomes a string literal, never code: a chain may come from a link. */
const literal = (text: string) => JSON.stringify(number(text))

const program = (draft: Draft, origin: string): string => {
  if (draft.mode === "triage") {
    return `const reply = await fetch(${JSON.stringify(origin + pathOf(draft))}, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(${JSON.stringify(bodyOf(draft))})
})
console.log(reply.status, await reply.json())
`
  }
  const steps = draft.handlers.map(
    ({ comparison, name, respond, than }) =>
      `  .useWhen((request) => request ${condition[comparison]} ${literal(than)}, (request) => ${template(respond)}, { name: ${JSON.stringify(name)} })`
  )
  const fallback =
    draft.fallback === null ? [] : [`  .withFallback((request) => ${template(draft.fallback)})`]
  return `import { Chain, ChainBuilder } from "chainstore/chain"

const chain = ChainBuilder.make<number, string>("ad-hoc")
${[...steps, ...fallback, "  .build()"].join("\n")}

console.log(Chain.executeSync(chain, ${literal(draft.request)}))
`
}

/** The same run elsewhere: over HTTP, in a program, as data. */
export const copyAs = (language: Language, draft: Draft, origin: string): string => {
  switch (language) {
    case "curl":
      return `curl -s -H 'Content-Type: application/json' ${shell(`${origin}${pathOf(draft)}`)} -d ${shell(JSON.stringify(bodyOf(draft)))}\n`
    case "TypeScript":
      return program(draft, origin)
    case "JSON":
      return `${JSON.stringify(bodyOf(draft), null, 2)}\n`
  }
}
