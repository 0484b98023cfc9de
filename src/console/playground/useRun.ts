import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { alarmProblem, announce } from "../components/Announcer.js"
import { loadProblem, offlineText, type ProblemText } from "../components/ProblemText.js"
import { type ChainDraft, pathOf, toBody, toRunnable } from "./ChainDraft.js"
import { type RunResult, resultSentence } from "./RunResult.js"

/** A result, its input, and where the chain ran. */
export interface Shown {
  readonly ran: RunResult
  readonly of: string
  /** The generation of the draft. */
  readonly generation: number
  readonly where: "in this browser" | "at the service"
}

/** The delay between the last key and the run, and between the run and its announcement. */
const pause = 120
const calm = 900

const failures = {
  "in this browser": loadProblem("The chain library could not be loaded."),
  "at the service": loadProblem("The service did not answer.", offlineText)
}

/** Starts a run in this page. The returned function stops it. */
const here = (draft: ChainDraft, done: (ran: RunResult) => void, failed: () => void): (() => void) => {
  const ready = toRunnable(draft)
  let stop = () => {}
  let stopped = false
  const going = (begin: () => () => void) => {
    if (!stopped) stop = begin()
  }
  const loaded =
    ready === undefined
      ? import("./Validation.js").then(({ validationResult }) =>
          going(() => {
            done(validationResult(draft.mode, toBody(draft)))
            return stop
          })
        )
      : import("./Engine.js").then(({ start }) => going(() => start(ready, done, failed)))
  loaded.catch(() => {
    if (!stopped) failed()
  })
  return () => {
    stopped = true
    stop()
  }
}

const there = (draft: ChainDraft, done: (ran: RunResult) => void, failed: () => void): (() => void) => {
  const leaving = new AbortController()
  const ready = toRunnable(draft)
  const asked = import("./Service.js").then(({ executeAtService }) =>
    executeAtService(pathOf(draft), toBody(draft), leaving.signal)
  )
  // The reply of the service is shown with the trace of the library in this page.
  const local =
    ready === undefined
      ? Promise.resolve(undefined)
      : import("./Engine.js").then(({ visitsOf }) => visitsOf(ready))
  Promise.all([asked, local]).then(
    ([{ body, status }, visits = []]) => {
      if (leaving.signal.aborted) return
      const micros = "elapsedMilliseconds" in body ? body.elapsedMilliseconds * 1000 : 0
      done({ body, status, visits: status === 400 ? [] : visits, micros, runs: 1 })
    },
    () => {
      if (!leaving.signal.aborted) failed()
    }
  )
  return () => leaving.abort()
}

/** Runs the draft when it changes, and immediately or at the service on request. A new run stops the previous one. */
export const useRun = (draft: ChainDraft, generation: number) => {
  const [shown, setShown] = useState<Shown | undefined>(undefined)
  const [failed, setFailed] = useState<ProblemText | undefined>(undefined)
  const [running, setRunning] = useState<Shown["where"] | undefined>(undefined)
  const stop = useRef(() => {})
  const said = useRef<string | undefined>(undefined)
  const of = JSON.stringify([draft.mode, toBody(draft)])

  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const cancel = useCallback(() => {
    clearTimeout(waiting.current)
    stop.current()
    stop.current = () => {}
    setRunning(undefined)
  }, [])

  const run = (where: Shown["where"], then: (ran: RunResult) => void) => {
    cancel()
    setRunning(where)
    const begin = where === "in this browser" ? here : there
    stop.current = begin(
      draft,
      (ran) => {
        setRunning(undefined)
        setFailed(undefined)
        setShown({ ran, of, generation, where })
        then(ran)
      },
      () => {
        setRunning(undefined)
        setFailed(failures[where])
        alarmProblem(failures[where])
      }
    )
  }

  useEffect(() => {
    cancel()
    setFailed(undefined)
    let talk: ReturnType<typeof setTimeout> | undefined
    waiting.current = setTimeout(
      () =>
        run("in this browser", (ran) => {
          const words = resultSentence(ran)
          const first = said.current === undefined
          talk = setTimeout(
            () => {
              if (words !== said.current && !first) announce(words)
              said.current = words
            },
            first ? 0 : calm
          )
        }),
      shown === undefined ? 0 : pause
    )
    return () => clearTimeout(talk)
  }, [of, generation])

  useEffect(() => cancel, [cancel])

  /** Runs immediately and announces the result. */
  const now = (where: Shown["where"], then: () => void) =>
    run(where, (ran) => {
      said.current = resultSentence(ran)
      announce(said.current)
      then()
    })

  return {
    /** The last result. It may be of an earlier draft, but never of another chain. */
    shown: shown?.generation === generation ? shown : undefined,
    /** Whether the result is of the current draft. */
    isCurrent: shown?.of === of && shown.generation === generation,
    failed,
    running,
    now,
    cancel
  }
}
