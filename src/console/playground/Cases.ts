import { type CaseDraft, type Draft, nextKey, number, type StepDraft } from "./Draft.js"
import type { Ran } from "./Ran.js"

/** The table holds no more rows than somebody can look at. */
export const maxCases = 200

/** Whether a run met what was expected; nothing where nothing was. The name of a handler, a response, a status or an error will do. */
export const meets = (
  expected: string,
  { body, status }: Pick<Ran, "body" | "status">
): boolean | undefined => {
  if (expected.trim() === "") return undefined
  const actual = "response" in body ? [body.handledBy, body.response] : [body.error]
  return [...actual, String(status)].some((one) => one === expected || one === expected.trim())
}

const bounds = (steps: ReadonlyArray<StepDraft>): ReadonlyArray<number> =>
  steps.flatMap(({ kind, steps, than }) => {
    const value = number(than)
    return [...(kind === "fragment" || typeof value !== "number" ? [] : [value]), ...bounds(steps)]
  })

/** The requests at which the conditions of a draft turn: each number of them, and its neighbours. */
export const turningPoints = (draft: Draft): ReadonlyArray<CaseDraft> => {
  const known = new Set(draft.cases.map(({ request }) => number(request)))
  const points = new Set(bounds(draft.handlers).flatMap((bound) => [bound - 1, bound, bound + 1]))
  return [...points]
    .filter((point) => !known.has(point))
    .sort((a, b) => a - b)
    .slice(0, maxCases - draft.cases.length)
    .map((point) => ({ key: nextKey(), request: String(point), expected: "" }))
}
