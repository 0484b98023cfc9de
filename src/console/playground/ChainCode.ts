import { type ChainDraft, isSupportedByService, pathOf, toBody } from "./ChainDraft.js"
import { typeScriptOf } from "./TypeScriptCode.js"

export const codeLanguages = ["curl", "TypeScript", "JSON"] as const
export type CodeLanguage = (typeof codeLanguages)[number]

/** The languages that can express the chain. The service, and therefore curl, supports neither groups nor work. */
export const languagesFor = (draft: ChainDraft): ReadonlyArray<CodeLanguage> =>
  codeLanguages.filter((language) => language !== "curl" || isSupportedByService(draft))

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The run as an HTTP request, as a program, and as data. */
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
