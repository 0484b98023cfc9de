import { type Draft, fromBody } from "./Draft.js"
import { understand } from "./Pasted.js"
import { problemsOf } from "./Refusal.js"

/** The draft that a text stands for, or what is wrong with the text. */
export const readDraft = (
  text: string,
  cases: Draft["cases"]
): { readonly draft: Draft } | { readonly problems: ReadonlyArray<string> } => {
  const pasted = understand(text)
  if ("problem" in pasted) return { problems: [pasted.problem] }
  const problems = problemsOf(pasted.mode, pasted.body)
  return problems.length > 0 ? { problems } : { draft: { ...fromBody(pasted.mode, pasted.body), cases } }
}
