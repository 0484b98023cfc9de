import { useEffect, useRef } from "preact/hooks"

/** What stands between a person and the loss of what they typed. */
export interface Guard {
  /** Keeps what is not kept yet, and tells whether nothing would be lost by leaving. */
  readonly keep: () => boolean
  /** Asks whether it may be lost, and goes if so. */
  readonly ask: (go: () => void) => void
}

/** What is guarded: a panel, and a part of it, which may be left without the panel. */
type Guarded = "panel" | "part"

const guards: { [Of in Guarded]?: Guard | undefined } = {}

const pass = ([first, ...rest]: ReadonlyArray<Guarded>, go: () => void, wait?: () => void): void => {
  const guard = first && guards[first]
  if (first === undefined) go()
  else if (guard === undefined || guard.keep()) pass(rest, go, wait)
  else {
    wait?.()
    guard.ask(() => pass(rest, go))
  }
}

/** Goes elsewhere, and asks first where something would be lost by it; `wait` runs before the first question. */
export const leave = (go: () => void, wait?: () => void): void => pass(["part", "panel"], go, wait)

/** Goes elsewhere within a panel. */
export const leaveView = (go: () => void): void => pass(["part"], go)

/** Guards every way out of what is open, as long as it is. */
export const useGuard = (latest: Guard, of: Guarded = "panel"): void => {
  const now = useRef(latest)
  now.current = latest
  useEffect(() => {
    const mine: Guard = { keep: () => now.current.keep(), ask: (go) => now.current.ask(go) }
    const ask = (event: BeforeUnloadEvent) => {
      if (!mine.keep()) event.preventDefault()
    }
    guards[of] = mine
    addEventListener("beforeunload", ask)
    return () => {
      if (guards[of] === mine) guards[of] = undefined
      removeEventListener("beforeunload", ask)
    }
  }, [])
}
