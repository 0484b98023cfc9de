import { bodyOf, type Draft, isServed, pathOf } from "./Draft.js"
import { typeScriptOf } from "./TypeScriptText.js"

export const languages = ["curl", "TypeScript", "JSON"] as const
export type Language = (typeof languages)[number]

/** The languages that can say it: the service, and so curl, knows no groups and no work. */
export const languagesFor = (draft: Draft): ReadonlyArray<Language> =>
  languages.filter((language) => language !== "curl" || isServed(draft))

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The same run elsewhere: over HTTP, in a program, as data. */
export const copyAs = (language: Language, draft: Draft, origin: string): string => {
  switch (language) {
    case "curl":
      return `curl -s -H 'Content-Type: application/json' ${shell(`${origin}${pathOf(draft)}`)} -d ${shell(JSON.stringify(bodyOf(draft)))}\n`
    case "TypeScript":
      return typeScriptOf(draft, origin)
    case "JSON":
      return `${JSON.stringify(bodyOf(draft), null, 2)}\n`
  }
}
