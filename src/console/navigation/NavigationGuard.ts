import { useEffect, useRef } from "preact/hooks"

/** What stands between a person and the loss of what they typed. */
export interface NavigationGuard {
  /** Keeps what is not kept yet, and tells whether nothing would be lost by leaving. */
  readonly save: () => boolean
  /** Asks whether it may be lost, and goes if so. */
  readonly confirm: (proceed: () => void) => void
}

/** What is guarded: a panel, and a part of it, which may be left without the panel. */
type GuardScope = "panel" | "part"

const guards: { [Of in GuardScope]?: NavigationGuard | undefined } = {}

const passGuards = (
  [first, ...rest]: ReadonlyArray<GuardScope>,
  proceed: () => void,
  onWait?: () => void
): void => {
  const guard = first && guards[first]
  if (first === undefined) proceed()
  else if (guard === undefined || guard.save()) passGuards(rest, proceed, onWait)
  else {
    onWait?.()
    guard.confirm(() => passGuards(rest, proceed))
  }
}

/** Goes elsewhere, and asks first where something would be lost by it; `onWait` runs before the first question. */
export const guardNavigation = (proceed: () => void, onWait?: () => void): void =>
  passGuards(["part", "panel"], proceed, onWait)

/** Goes elsewhere within a panel. */
export const guardViewChange = (proceed: () => void): void => passGuards(["part"], proceed)

/** Guards every way out of what is open, as long as it is. */
export const useNavigationGuard = (latest: NavigationGuard, of: GuardScope = "panel"): void => {
  const now = useRef(latest)
  now.current = latest
  useEffect(() => {
    const mine: NavigationGuard = {
      save: () => now.current.save(),
      confirm: (proceed) => now.current.confirm(proceed)
    }
    const ask = (event: BeforeUnloadEvent) => {
      if (!mine.save()) event.preventDefault()
    }
    guards[of] = mine
    addEventListener("beforeunload", ask)
    return () => {
      if (guards[of] === mine) guards[of] = undefined
      removeEventListener("beforeunload", ask)
    }
  }, [])
}
