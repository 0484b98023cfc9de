import { useRef } from "preact/hooks"

/** Milliseconds without typing after which a change is saved. */
const pause = 250

/** Milliseconds after which a change is saved even if typing goes on. */
const maxDelay = 1000

interface PendingSave {
  readonly timer: number
  readonly since: number
  readonly save: () => void
}

/** Delays a save until typing pauses. */
export const useAutosave = () => {
  const pending = useRef<PendingSave | undefined>(undefined)

  /** Cancels the pending save and returns it. */
  const cancel = (): PendingSave | undefined => {
    const found = pending.current
    pending.current = undefined
    if (found !== undefined) clearTimeout(found.timer)
    return found
  }

  /** Runs the pending save now. */
  const flush = (): void => cancel()?.save()

  const latestFlush = useRef(flush)
  latestFlush.current = flush

  const schedule = (save: () => void): void => {
    const now = performance.now()
    const since = cancel()?.since ?? now
    const timer = window.setTimeout(() => latestFlush.current(), Math.min(pause, since + maxDelay - now))
    pending.current = { timer, since, save }
  }

  return { cancel, flush, latestFlush, schedule }
}
