import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { guardNavigation } from "./NavigationGuard.js"
import { fromHash, type Route, toHash } from "./Route.js"

export type Navigate = (change: Partial<Route>, how?: "push" | "replace") => void

/** The fields that identify the open panel. */
const panelFields = ["api", "repo", "branch", "root", "collection", "document", "panel"] as const

const isSamePanel = (one: Route, other: Route): boolean =>
  panelFields.every((name) => one[name] === other[name])

/** The index of the current history entry; undefined if the address was edited by hand. */
const currentStep = (): number | undefined => {
  const step: unknown = history.state?.step
  return typeof step === "number" ? step : undefined
}

const replaceStep = (step: number, address = location.href) => history.replaceState({ step }, "", address)

/** The route in the address bar, and a function that changes it. Navigation guards run before a panel is left. */
export const useRoute = (): readonly [Route, Navigate] => {
  const [route, setRoute] = useState(() => fromHash(location.hash))
  const shown = useRef({ route, hash: location.hash, step: 0 })

  const show = (hash: string, step: number) => {
    shown.current = { route: fromHash(hash), hash, step }
    setRoute(shown.current.route)
  }

  useEffect(() => {
    shown.current.step = currentStep() ?? 0
    replaceStep(shown.current.step)
    // The event also fires when the address is edited by hand.
    const follow = () => {
      const { hash } = location
      const before = shown.current
      const step = currentStep() ?? (hash === before.hash ? before.step : before.step + 1)
      replaceStep(step)
      const by = step - before.step
      if (by === 0 || isSamePanel(before.route, fromHash(hash))) return show(hash, step)
      // The browser has already navigated: go back until the guard has an answer.
      let waited = false
      guardNavigation(
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

  const navigate = useCallback<Navigate>((change, how = "push") => {
    const before = shown.current
    // A version belongs to one document and is dropped when another one opens.
    const version = "document" in change ? undefined : before.route.version
    const hash = toHash({ ...before.route, version, ...change })
    if (hash === before.hash) return
    const enter = () => {
      const address = `${location.pathname}${location.search}${hash}`
      const step = how === "push" ? shown.current.step + 1 : shown.current.step
      if (how === "push") history.pushState({ step }, "", address)
      else replaceStep(step, address)
      show(hash, step)
    }
    if (isSamePanel(before.route, fromHash(hash))) enter()
    else guardNavigation(enter)
  }, [])
  return [route, navigate]
}
