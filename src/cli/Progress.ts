import { Effect } from "effect"
import * as Monotonic from "../domain/time/MonotonicClock.js"
import { CommandOutput } from "./CommandOutput.js"
import { escapeControls } from "./TerminalText.js"

/** A progress line on a terminal. Does nothing elsewhere. */
export interface Progress {
  /** Shows the number that is done. `share` is the share of the whole, if the total is unknown. */
  readonly report: (done: number, share?: number) => Effect.Effect<void>
}

/** Shows the progress of `body`: the number done, the total if it is known, the rate and the remaining time. */
export const withProgress = <A, E, R>(
  label: string,
  total: number | undefined,
  body: (progress: Progress) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | CommandOutput> =>
  Effect.flatMap(CommandOutput, (screen) => {
    if (!screen.showsProgress) return body({ report: () => Effect.void })
    return Effect.flatMap(Monotonic.millis, (start) => {
      let shown = 0
      const report = (done: number, share = total === undefined ? undefined : shareOf(done, total)) =>
        Effect.flatMap(Monotonic.millis, (now) => {
          if (now - shown < 100 && done !== total) return Effect.void
          shown = now
          return screen.writeMessage(
            `${clear}${line(escapeControls(label), done, total, share, (now - start) / 1000)}`
          )
        })
      return Effect.ensuring(body({ report }), screen.writeMessage(clear))
    })
  })

const clear = "\r\u001b[2K"
const width = 24

const shareOf = (done: number, total: number) => (total === 0 ? 1 : Math.min(1, done / total))

const line = (
  label: string,
  done: number,
  total: number | undefined,
  share: number | undefined,
  seconds: number
) => {
  const speed = seconds > 0 ? `${Math.round(done / seconds)}/s` : ""
  const count = total === undefined ? `${done}` : `${done}/${total}`
  if (share === undefined) return `${label}  ${count}  ${speed}`
  const filled = Math.round(share * width)
  const left = share > 0 && seconds > 0 ? `, ${time((seconds * (1 - share)) / share)} left` : ""
  return `${label}  ${"█".repeat(filled)}${"░".repeat(width - filled)}  ${count}  ${speed}${left}`
}

const time = (seconds: number) => {
  const whole = Math.round(seconds)
  return whole >= 60 ? `${Math.floor(whole / 60)}m ${whole % 60}s` : `${whole}s`
}
