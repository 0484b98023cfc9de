import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { leave } from "./Leave.js"
import { fromHash, type Place, toHash } from "./Place.js"

export type Go = (change: Partial<Place>, how?: "push" | "replace") => void

/** What is another panel, or a panel of something else, when it changes. */
const ofPanel = ["api", "repo", "branch", "root", "table", "document", "panel"] as const

const isSamePanel = (one: Place, other: Place): boolean => ofPanel.every((name) => one[name] === other[name])

/** Which step of the browser's history is shown; none where the address was edited by hand. */
const stepShown = (): number | undefined => {
  const step: unknown = history.state?.step
  return typeof step === "number" ? step : undefined
}

const mark = (step: number, address = location.href) => history.replaceState({ step }, "", address)

/** The place in the address bar, and a way to change it that Back undoes. What is open may ask before it is left. */
export const usePlace = (): readonly [Place, Go] => {
  const [place, setPlace] = useState(() => fromHash(location.hash))
  const shown = useRef({ place, hash: location.hash, step: 0 })

  const show = (hash: string, step: number) => {
    shown.current = { place: fromHash(hash), hash, step }
    setPlace(shown.current.place)
  }

  useEffect(() => {
    shown.current.step = stepShown() ?? 0
    mark(shown.current.step)
    // An address that is edited by hand is told by this event, too.
    const follow = () => {
      const { hash } = location
      const before = shown.current
      const step = stepShown() ?? (hash === before.hash ? before.step : before.step + 1)
      mark(step)
      const by = step - before.step
      if (by === 0 || isSamePanel(before.place, fromHash(hash))) return show(hash, step)
      // The browser has gone there already: it goes back until the question is answered.
      let waited = false
      leave(
        () => (waited ? history.go(by) : show(hash, step)),
        () => {
          waited = true
          history.go(-by)
        }
      )
    }
    addEventListener("popstate", follow)
    return () => removeEventListener("popstate", follow)
  }, [])

  const go = useCallback<Go>((change, how = "push") => {
    const before = shown.current
    // An earlier version is of one document: no other one is opened at its commit.
    const version = "document" in change ? undefined : before.place.version
    const hash = toHash({ ...before.place, version, ...change })
    if (hash === before.hash) return
    const enter = () => {
      const address = `${location.pathname}${location.search}${hash}`
      const step = how === "push" ? shown.current.step + 1 : shown.current.step
      if (how === "push") history.pushState({ step }, "", address)
      else mark(step, address)
      show(hash, step)
    }
    if (isSamePanel(before.place, fromHash(hash))) enter()
    else leave(enter)
  }, [])
  return [place, go]
}
