import type { ComponentChildren, ComponentType } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { alarmProblem } from "./Announcer.js"
import { PartProblem } from "./PartProblem.js"
import { loadProblem } from "./ProblemText.js"

interface LoadingFrame {
  /** Shown while the component loads. */
  readonly waiting: ComponentChildren
  /** Renders the error card in place of the component. */
  readonly failed: (card: ComponentChildren) => ComponentChildren
}

let focusAtRequest: Element | null | undefined

/** The element that had the focus when the component that renders now was requested; undefined if it was already loaded. */
export const focusWhenRequested = (): Element | null | undefined => focusAtRequest

/** A component whose module is loaded when it is first rendered. After a failure a button loads it again. */
export const lazyComponent = <Props extends object>(fetch: () => Promise<ComponentType<Props>>) => {
  let known: ComponentType<Props> | undefined
  return ({ frame, ...rest }: Props & { readonly frame: LoadingFrame }) => {
    const from = useRef<Element | null | undefined>(undefined)
    const [Here, setHere] = useState<ComponentType<Props> | undefined>(() => {
      if (known === undefined) from.current = document.activeElement
      return known
    })
    const [retries, setRetries] = useState(0)
    const [failed, setFailed] = useState(false)
    const problem = loadProblem("A part of this page could not be loaded.")
    useEffect(() => {
      if (known !== undefined) return
      let gone = false
      fetch().then(
        (found) => {
          known = found
          if (!gone) setHere(() => found)
        },
        () => {
          if (gone) return
          setFailed(true)
          alarmProblem(problem)
        }
      )
      return () => {
        gone = true
      }
    }, [retries])
    // Runs after the layout effects of the component itself.
    useLayoutEffect(() => {
      focusAtRequest = undefined
      if (Here !== undefined) from.current = undefined
    }, [Here])
    if (Here !== undefined) {
      focusAtRequest = from.current
      return <Here {...(rest as unknown as Props)} />
    }
    if (!failed) return <>{frame.waiting}</>
    return (
      <>
        {frame.failed(
          <PartProblem
            problem={problem}
            retries={retries}
            onRetry={(next) => {
              setFailed(false)
              setRetries(next)
            }}
          />
        )}
      </>
    )
  }
}
