import { type ChainDraft, fromBody } from "./ChainDraft.js"
import { parsePastedRun } from "./PastedRun.js"
import { validationProblems } from "./Validation.js"

/** Parses a text into a draft, or returns its problem. */
export const readDraft = (
  text: string,
  cases: ChainDraft["cases"]
): { readonly draft: ChainDraft } | { readonly problems: ReadonlyArray<string> } => {
  const pasted = parsePastedRun(text)
  if ("problem" in pasted) return { problems: [pasted.problem] }
  const problems = validationProblems(pasted.mode, pasted.body)
  return problems.length > 0 ? { problems } : { draft: { ...fromBody(pasted.mode, pasted.body), cases } }
}
