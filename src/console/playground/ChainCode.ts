import { type ChainDraft, isSupportedByService, pathOf, toBody } from "./ChainDraft.js"
import { typeScriptOf } from "./TypeScriptCode.js"

export const codeLanguages = ["curl", "TypeScript", "JSON"] as const
export type CodeLanguage = (typeof codeLanguages)[number]

/** The languages that can say it: the service, and so curl, knows no groups and no work. */
export const languagesFor = (draft: ChainDraft): ReadonlyArray<CodeLanguage> =>
  codeLanguages.filter((language) => language !== "curl" || isSupportedByService(draft))

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The same run elsewhere: over HTTP, in a program, as data. */
export const chainCode = (language: CodeLanguage, draft: ChainDraft, origin: string): string => {
  switch (language) {
    case "curl":
      return `curl -s -H 'Content-Type: application/json' ${shell(`${origin}${pathOf(draft)}`)} -d ${shell(JSON.stringify(toBody(draft)))}\n`
    case "TypeScript":
      return typeScriptOf(draft, origin)
    case "JSON":
      return `${JSON.stringify(toBody(draft), null, 2)}\n`
  }
}
