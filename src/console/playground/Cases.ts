import { type CaseDraft, type ChainDraft, nextKey, parseNumber, type StepDraft } from "./ChainDraft.js"
import type { RunResult } from "./RunResult.js"

/** The maximum number of rows of the table. */
export const maxCases = 200

/** Whether a result matches the expectation: the name of a handler, a response, a status or an error. Undefined without an expectation. */
export const meetsExpectation = (
  expected: string,
  { body, status }: Pick<RunResult, "body" | "status">
): boolean | undefined => {
  if (expected.trim() === "") return undefined
  const actual = "response" in body ? [body.handledBy, body.response] : [body.error]
  return [...actual, String(status)].some((one) => one === expected || one === expected.trim())
}

const bounds = (steps: ReadonlyArray<StepDraft>): ReadonlyArray<number> =>
  steps.flatMap(({ kind, steps, than }) => {
    const value = parseNumber(than)
    return [...(kind === "fragment" || typeof value !== "number" ? [] : [value]), ...bounds(steps)]
  })

/** The requests at which the conditions of a draft change: each of their numbers and its neighbours. */
export const boundaryCases = (draft: ChainDraft): ReadonlyArray<CaseDraft> => {
  const requests = new Set(draft.cases.map(({ request }) => parseNumber(request)))
  const points = new Set(bounds(draft.handlers).flatMap((bound) => [bound - 1, bound, bound + 1]))
  return [...points]
    .filter((point) => !requests.has(point))
    .sort((a, b) => a - b)
    .slice(0, maxCases - draft.cases.length)
    .map((point) => ({ key: nextKey(), request: String(point), expected: "" }))
}
