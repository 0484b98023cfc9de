/** A handler's work in the body of a run. Each part may be absent. */
export interface HandlerWork {
  /** The duration of each attempt. */
  readonly delayMilliseconds?: number
  /** The number of attempts that fail before one succeeds. */
  readonly failures?: number
  /** The number of retries of `Policy.retry`. */
  readonly retries?: number
  /** The time limit of `Policy.timeout` for each attempt. */
  readonly timeoutMilliseconds?: number
  /** The response of `Policy.recover` after the last failure. */
  readonly recover?: string
}

/** The numeric parts with their bounds, so that a run in the page ends soon. */
export const workNumbers = [
  { field: "delayMilliseconds", label: "Delay (ms)", min: 0, max: 10_000 },
  { field: "failures", label: "Failures before it succeeds", min: 0, max: 100 },
  { field: "retries", label: "Retries (Policy.retry)", min: 0, max: 100 },
  { field: "timeoutMilliseconds", label: "Time limit (ms, Policy.timeout)", min: 1, max: 10_000 }
] as const

export type WorkNumber = (typeof workNumbers)[number]["field"]

/** The problems of a value that should be work: the path inside the value, and the expectation. */
export const workProblems = (work: unknown): ReadonlyArray<readonly [path: string, message: string]> => {
  if (typeof work !== "object" || work === null || Array.isArray(work)) return [["", "must be an object"]]
  const given = work as Readonly<Record<string, unknown>>
  const problems: Array<readonly [string, string]> = []
  for (const { field, max, min } of workNumbers) {
    const value = given[field]
    if (value === undefined) continue
    if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
      problems.push([`.${field}`, `must be an integer from ${min} to ${max}`])
    }
  }
  if (given["recover"] !== undefined && typeof given["recover"] !== "string") {
    problems.push([".recover", "must be a string"])
  }
  return problems
}

const times = (n: number, what: string) => `${what} ${n === 1 ? "once" : n === 2 ? "twice" : `${n} times`}`

/** The work as text: "takes 200 ms, fails twice, is retried up to 3 times". */
export const workText = (work: HandlerWork | undefined): string => {
  if (work === undefined) return ""
  const { delayMilliseconds = 0, failures = 0, recover, retries = 0, timeoutMilliseconds } = work
  return [
    ...(delayMilliseconds > 0 ? [`takes ${delayMilliseconds} ms`] : []),
    ...(failures > 0 ? [times(failures, "fails")] : []),
    ...(timeoutMilliseconds === undefined ? [] : [`is stopped after ${timeoutMilliseconds} ms`]),
    ...(retries > 0 ? [`is retried at most ${retries === 1 ? "once" : `${retries} times`}`] : []),
    ...(recover === undefined ? [] : ["recovers from failures"])
  ].join(", ")
}
