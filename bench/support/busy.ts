import { cpus } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"

/** Above this share of one processor that others use, a figure says more of them than of us. */
const mostOthersUse = 0.2

const used = () => {
  let busy = 0
  for (const { times } of cpus()) busy += times.user + times.nice + times.sys + times.irq
  return busy
}

/** How much of one processor is in use on this machine while this process sleeps. */
const othersUse = async (): Promise<number> => {
  const before = used()
  const started = performance.now()
  await sleep(500)
  return (used() - before) / (performance.now() - started)
}

/**
 * Runs a measurement and says whether it can be believed: not if the machine had other work before it or after it.
 * `BENCH_BUSY=1` believes it nevertheless.
 */
export const undisturbed = async <A>(
  measure: () => Promise<A>
): Promise<readonly [measured: A, isQuiet: boolean]> => {
  if (process.env["BENCH_BUSY"] === "1") return [await measure(), true]
  const before = await othersUse()
  const measured = await measure()
  return [measured, Math.max(before, await othersUse()) <= mostOthersUse]
}
