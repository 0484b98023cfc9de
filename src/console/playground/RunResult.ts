import type { StepVisit } from "./StepReport.js"

/** The body of a reply, in the format of the service. */
export type RunResultBody =
  | {
      readonly response: string
      readonly handledBy: string
      readonly elapsedMilliseconds: number
      readonly log: ReadonlyArray<string>
    }
  | { readonly error: string; readonly message: string }

/** The result of a run: status and body as the service returns them, and the trace of the library. */
export interface RunResult {
  readonly status: number
  readonly body: RunResultBody
  readonly visits: ReadonlyArray<StepVisit>
  /** The duration of the chain: the mean of `runs` executions. */
  readonly micros: number
  readonly runs: number
}

const digits = (value: number) => (value < 10 ? 1 : 0)

/** Formats a duration: "0.8 µs", "340 µs", "1.2 ms". */
export const timeText = (micros: number): string =>
  micros < 0.1
    ? "under 0.1 µs"
    : micros < 1000
      ? `${micros.toFixed(digits(micros))} µs`
      : `${(micros / 1000).toFixed(digits(micros / 1000))} ms`

/** The result as a sentence for screen readers. */
export const resultSentence = ({ body, status }: Pick<RunResult, "body" | "status">): string =>
  "response" in body
    ? `Handled by ${body.handledBy}: ${body.response}`
    : `${status} ${body.error}: ${body.message}`

/** The shortest summary of a result. */
export const shortResult = ({ body }: Pick<RunResult, "body">): string =>
  "response" in body ? body.response : body.error
