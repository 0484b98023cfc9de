import { useEffect, useState } from "preact/hooks"
import type { ProblemText } from "./ProblemText.js"

type Say = (text: string, urgent: boolean) => void

let say: Say | undefined

/** Announces a status: shown at the foot of the page and read by screen readers. */
export const announce = (text: string): void => say?.(text, false)

/** Announces a failure: shown at the foot of the page and read by screen readers at once. */
export const alarm = (text: string): void => say?.(text, true)

/** Announces a problem by its title and message. */
export const alarmProblem = ({ message, title }: ProblemText): void => alarm(`${title}. ${message}`)

/** The page's two live regions. */
export const Announcer = () => {
  const [status, setStatus] = useState("")
  const [alert, setAlert] = useState("")
  useEffect(() => {
    say = (text, urgent) => {
      // A screen reader reads a text again only if it changes.
      const again = (before: string) => (before === text ? `${text}\u00a0` : text)
      if (urgent) {
        setAlert(again)
        setStatus("")
      } else {
        setStatus(again)
        setAlert("")
      }
    }
    return () => {
      say = undefined
    }
  }, [])
  return (
    <footer class="foot">
      <p class="foot-status" role="status" aria-live="polite">
        {status}
      </p>
      <p class="foot-status wrong" role="alert" aria-live="assertive">
        {alert}
      </p>
    </footer>
  )
}
