import type { SpelledObject } from "../../domain/SpelledJson.js"

/** How a query by field is answered. */
export type LookupPlan =
  | {
      readonly _tag: "Scan"
      readonly reason: string
      readonly index: string | undefined
      readonly current: boolean
    }
  | {
      readonly _tag: "Index"
      readonly reason: string
      readonly index: string
      readonly current: boolean
      /** Candidates, sorted: each is still checked against the document. */
      readonly ids: ReadonlyArray<string>
      /** Whether every candidate must be there and as the index says. */
      readonly exact: boolean
      /** Whether the index is right to name a document with this content. */
      readonly names: (id: string, document: SpelledObject) => boolean
    }

/** Every document is read. */
export const scanOf = (reason: string, index?: string, current = true): LookupPlan => ({
  _tag: "Scan",
  reason,
  index,
  current
})
