import { useCallback, useEffect, useState } from "preact/hooks"
import { fromHash, type Place, toHash } from "./Place.js"

export type Go = (change: Partial<Place>, how?: "push" | "replace") => void

/** The place in the address bar, and a way to change it that Back undoes. */
export const usePlace = (): readonly [Place, Go] => {
  const [place, setPlace] = useState(() => fromHash(location.hash))
  useEffect(() => {
    const follow = () => setPlace(fromHash(location.hash))
    addEventListener("popstate", follow)
    addEventListener("hashchange", follow)
    return () => {
      removeEventListener("popstate", follow)
      removeEventListener("hashchange", follow)
    }
  }, [])
  const go = useCallback<Go>((change, how = "push") => {
    const before = fromHash(location.hash)
    // An earlier version is of one document: no other one is opened at its commit.
    const version = "document" in change ? undefined : before.version
    const hash = toHash({ ...before, version, ...change })
    if (hash === location.hash) return
    const address = `${location.pathname}${location.search}${hash}`
    if (how === "push") history.pushState(null, "", address)
    else history.replaceState(null, "", address)
    setPlace(fromHash(hash))
  }, [])
  return [place, go]
}
