import { useEffect, useRef } from "preact/hooks"

/** Prevents the loss of unsaved input when the user navigates. */
export interface NavigationGuard {
  /** Saves pending input and returns whether everything is saved. */
  readonly save: () => boolean
  /** Asks whether to discard the input, and calls `proceed` if so. */
  readonly confirm: (proceed: () => void) => void
}

/** A guard protects a panel, or a view inside of a panel. */
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

/** Runs `proceed` after all guards allow it. `onWait` runs before the first question. */
export const guardNavigation = (proceed: () => void, onWait?: () => void): void =>
  passGuards(["part", "panel"], proceed, onWait)

/** Runs `proceed` after the guard of the view inside the panel allows it. */
export const guardViewChange = (proceed: () => void): void => passGuards(["part"], proceed)

/** Registers a guard while the component is mounted, also for closing the tab. */
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
