import { Clock, Effect } from "effect"
import { Screen } from "./Output.js"

/** A line of progress on a terminal; nothing elsewhere. */
export interface Progress {
  readonly tell: (done: number) => Effect.Effect<void>
}

/** Shows how far `body` is: done, of how many where that is known, the rate, and the time that is left. */
export const withProgress = <A, E, R>(
  label: string,
  total: number | undefined,
  body: (progress: Progress) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Screen> =>
  Effect.flatMap(Screen, (screen) => {
    if (!screen.messages) return body({ tell: () => Effect.void })
    return Effect.flatMap(Clock.currentTimeMillis, (start) => {
      let shown = 0
      const tell = (done: number) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          if (now - shown < 100 && done !== total) return Effect.void
          shown = now
          return screen.message(`\r\u001b[2K${line(label, done, total, (now - start) / 1000)}`)
        })
      return Effect.ensuring(body({ tell }), screen.message("\r\u001b[2K"))
    })
  })

const width = 24

const line = (label: string, done: number, total: number | undefined, seconds: number) => {
  const rate = seconds > 0 ? done / seconds : 0
  const speed = `${Math.round(rate)}/s`
  if (total === undefined) return `${label}  ${done}  ${speed}`
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.round(share * width)
  const left = rate > 0 ? `, ${time((total - done) / rate)} left` : ""
  return `${label}  ${"█".repeat(filled)}${"░".repeat(width - filled)}  ${done}/${total}  ${speed}${left}`
}

const time = (seconds: number) =>
  seconds >= 60 ? `${Math.floor(seconds / 60)}m ${Math.round(seconds % 60)}s` : `${Math.round(seconds)}s`
