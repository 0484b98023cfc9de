/** What a handler does beside answering, as the body of a run holds it. Each part may be absent. */
export interface HandlerWork {
  /** How long each try takes. */
  readonly delayMilliseconds?: number
  /** How many tries fail before one succeeds. */
  readonly failures?: number
  /** How many times `Policy.retry` tries again. */
  readonly retries?: number
  /** How long `Policy.timeout` lets each try take. */
  readonly timeoutMilliseconds?: number
  /** What `Policy.recover` answers after the last failure. */
  readonly recover?: string
}

/** The parts that are numbers, with their bounds: a run in the page must end while somebody looks at it. */
export const workNumbers = [
  { field: "delayMilliseconds", label: "Delay (ms)", min: 0, max: 10_000 },
  { field: "failures", label: "Failures before it succeeds", min: 0, max: 100 },
  { field: "retries", label: "Retries (Policy.retry)", min: 0, max: 100 },
  { field: "timeoutMilliseconds", label: "Time limit (ms, Policy.timeout)", min: 1, max: 10_000 }
] as const

export type WorkNumber = (typeof workNumbers)[number]["field"]

/** What is wrong with a value in the place of a `Work`: the path below it, and the expectation. */
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

/** The work in words: "takes 200 ms, fails twice, is retried up to 3 times". */
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
