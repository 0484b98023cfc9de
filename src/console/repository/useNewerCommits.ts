import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { announce } from "../components/Announcer.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"

const minute = 60_000

/**
 * Whether the branch has moved since what the page shows was read: asked when the page gets the focus, and every minute
 * while it is in sight. Nothing is read again by itself. `begun`: where the branch was before anything was shown; it is asked
 * for where it is not known.
 */
export const useNewerCommits = (source: DataSourceService, begun: string | undefined) => {
  /** A commit that everything shown is at least as new as. */
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
        // The next question may be answered; one by hand tells what is wrong.
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
    /** What is shown is about to be read again. */
    accept: () => {
      seen.current = head.current ?? seen.current
      setWords(undefined)
    },
    /** A commit of our own moves the branch: `then` reads what is shown again. */
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
