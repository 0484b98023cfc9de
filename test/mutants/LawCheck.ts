/** A published law over a mutated subject. */
export interface LawCheck {
  readonly name: string
  /** Rejects if the law does not hold. */
  readonly check: () => Promise<void>
}

/** What a child process that judges a mutant prints, a line of JSON each. */
export type JudgeEvent =
  | { readonly begins: string }
  | { readonly breaks: string }
  | { readonly done: true; readonly seconds: number; readonly megabytes: number }

const print = (event: JudgeEvent) => process.stdout.write(`${JSON.stringify(event)}\n`)

/** Checks the laws one after another until `most` of them do not hold, prints the events, and ends the process. */
export const reportChecks = async (checks: ReadonlyArray<LawCheck>, most: number): Promise<void> => {
  let broken = 0
  for (const { check, name } of checks) {
    if (broken >= most) break
    print({ begins: name })
    await check().catch(() => {
      broken += 1
      print({ breaks: name })
    })
  }
  const { maxRSS, systemCPUTime, userCPUTime } = process.resourceUsage()
  print({ done: true, seconds: (systemCPUTime + userCPUTime) / 1e6, megabytes: Math.round(maxRSS / 1024) })
  // The fibers of a broken law may still run.
  process.stdout.write("", () => process.exit(0))
}
