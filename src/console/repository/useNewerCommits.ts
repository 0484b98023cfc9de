import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { announce } from "../components/Announcer.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"

const minute = 60_000

/**
 * Whether the branch has newer commits than the page shows. Checked when the page gets the focus, and every minute while
 * it is visible. Data is not reloaded automatically. `begun` is the head at sign-in; if unknown, it is requested.
 */
export const useNewerCommits = (source: DataSourceService, begun: string | undefined) => {
  /** The oldest commit that the shown data may be from. */
  const seen = useRef(begun)
  const head = useRef<string | undefined>(undefined)
  const [words, setWords] = useState<string | undefined>(undefined)
  const task = useEffectRunner()

  const ask = useCallback(
    () =>
      task.run(source.newer(seen.current), {
        success: (found) => {
          head.current = found.head ?? undefined
          seen.current ??= head.current
          if (head.current === seen.current || head.current === undefined) return setWords(undefined)
          const { count } = found
          const next =
            count === undefined ? "Many newer commits" : `${count} newer commit${count === 1 ? "" : "s"}`
          setWords((before) => {
            if (before !== next) announce(`${next} on the branch.`)
            return next
          })
        },
        // The next check may succeed. A query by the user reports the problem.
        failure: () => undefined
      }),
    [source]
  )

  useEffect(() => {
    if (begun === undefined) ask()
    const look = () => document.visibilityState === "visible" && ask()
    const timer = setInterval(look, minute)
    addEventListener("focus", look)
    return () => {
      clearInterval(timer)
      removeEventListener("focus", look)
    }
  }, [ask])

  return {
    words,
    /** Call when the data is about to be reloaded. */
    accept: () => {
      seen.current = head.current ?? seen.current
      setWords(undefined)
    },
    /** Call after this page has written a commit; `then` reloads the data. */
    follow: (then: () => void) =>
      task.run(source.newer(undefined), {
        success: (found) => {
          head.current = found.head ?? undefined
          seen.current = head.current
          setWords(undefined)
          then()
        },
        failure: then
      })
  }
}
