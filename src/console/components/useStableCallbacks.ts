import { useMemo, useRef } from "preact/hooks"

type Callbacks = Readonly<Record<string, (...args: Array<never>) => void>>

/** Returns callbacks that are the same at each render and call those of the latest: a component that is memoised takes them. */
export const useStableCallbacks = <T extends Callbacks>(callbacks: T): T => {
  const latest = useRef(callbacks)
  latest.current = callbacks
  return useMemo(
    () =>
      Object.fromEntries(
        Object.keys(callbacks).map((name) => [
          name,
          (...args: Array<never>) => latest.current[name]!(...args)
        ])
      ) as T,
    []
  )
}
