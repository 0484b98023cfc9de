import { useEffect, useRef } from "preact/hooks"

/** What stands between a person and the loss of what they typed. */
export interface Guard {
  /** Keeps what is not kept yet, and tells whether nothing would be lost by leaving. */
  readonly keep: () => boolean
  /** Asks whether it may be lost, and goes if so. */
  readonly ask: (go: () => void) => void
}

let guard: Guard | undefined

/** Goes elsewhere, and asks first where something would be lost by it; `wait` runs before the question. */
export const leave = (go: () => void, wait?: () => void): void => {
  if (guard === undefined || guard.keep()) go()
  else {
    wait?.()
    guard.ask(go)
  }
}

/** Guards every way out of what is open, as long as it is. */
export const useGuard = (latest: Guard): void => {
  const now = useRef(latest)
  now.current = latest
  useEffect(() => {
    const mine: Guard = { keep: () => now.current.keep(), ask: (go) => now.current.ask(go) }
    const ask = (event: BeforeUnloadEvent) => {
      if (!mine.keep()) event.preventDefault()
    }
    guard = mine
    addEventListener("beforeunload", ask)
    return () => {
      if (guard === mine) guard = undefined
      removeEventListener("beforeunload", ask)
    }
  }, [])
}
