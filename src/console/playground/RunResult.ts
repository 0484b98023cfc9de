import type { StepVisit } from "./StepReport.js"

/** The body of an answer, in the service's own shape. */
export type RunResultBody =
  | {
      readonly response: string
      readonly handledBy: string
      readonly elapsedMilliseconds: number
      readonly log: ReadonlyArray<string>
    }
  | { readonly error: string; readonly message: string }

/** What a run gives: a status and a body as the service has them, and what the library saw. */
export interface RunResult {
  readonly status: number
  readonly body: RunResultBody
  readonly visits: ReadonlyArray<StepVisit>
  /** How long the chain took: the mean of `runs` executions. */
  readonly micros: number
  readonly runs: number
}

const digits = (value: number) => (value < 10 ? 1 : 0)

/** A time for a reader: "0.8 µs", "340 µs", "1.2 ms". */
export const timeText = (micros: number): string =>
  micros < 0.1
    ? "under 0.1 µs"
    : micros < 1000
      ? `${micros.toFixed(digits(micros))} µs`
      : `${(micros / 1000).toFixed(digits(micros / 1000))} ms`

/** An answer in a sentence, as a screen reader says it. */
export const resultSentence = ({ body, status }: Pick<RunResult, "body" | "status">): string =>
  "response" in body
    ? `Handled by ${body.handledBy}: ${body.response}`
    : `${status} ${body.error}: ${body.message}`

/** The least that says what a run gave. */
export const shortResult = ({ body }: Pick<RunResult, "body">): string =>
  "response" in body ? body.response : body.error
