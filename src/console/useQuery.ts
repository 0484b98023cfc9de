import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { QueryAnswer, QueryCost } from "../store/browse/Browse.js"
import { alarmProblem, announce, counted } from "./Announcer.js"
import type { DataSourceService } from "./DataSource.js"
import type { Place } from "./Place.js"
import type { Problem } from "./Problem.js"
import { useTask } from "./useTask.js"

export interface Outcome {
  readonly answer: QueryAnswer
  /** The filters that the rows answer. */
  readonly filters: Place["filters"]
  /** The same with whether whole documents were asked for, as one text. */
  readonly by: string
  readonly milliseconds: number
}

/** What the status line says of an answer. */
const told = ({ answer, milliseconds }: Outcome): string => {
  const { collection, cursor, documents, source, total } = answer
  const of = total !== undefined && total > documents.length ? ` of ${total.toLocaleString("en")}` : ""
  return `${counted(documents.length, "document")}${of} from ${collection}, answered from the ${
    source === "scan" ? "documents" : source
  } in ${Math.round(milliseconds).toLocaleString("en")} ms${cursor === null ? "" : "; more follow"}.`
}

/** What came of asking for a collection at a commit: rows of one never stand under the name of another. */
interface Settled {
  readonly of: string
  readonly outcome?: Outcome | undefined
  /** Beside an outcome: why no newer one, or no more of it, came. `by` is what was asked then. */
  readonly problem?: Problem | undefined
  /** Why the question was not asked: it takes more requests than nobody has agreed to. */
  readonly cost?: QueryCost | undefined
  readonly by: string
}

/** A question that takes more requests than this is asked once somebody has agreed. */
const maxRequests = 200

/** That a person asked, and what had the focus then. */
interface Asked {
  readonly from: Element | null
}

/** Asks what the place says whenever that changes; a newer question drops the answer to an older one. */
export const useQuery = (
  source: DataSourceService,
  place: Place,
  onSettled: (asked: Asked | undefined) => void
) => {
  const [latest, setLatest] = useState<Settled | undefined>(undefined)
  const [round, setRound] = useState(0)
  const byHand = useRef<Asked | undefined>(undefined)
  const quiet = useRef(false)
  /** The question whose requests somebody has agreed to. */
  const agreed = useRef<string | undefined>(undefined)
  const task = useTask()
  const asked = useRef<{ question: string; sort: string } | undefined>(undefined)
  const { at, filters, limit, misread, sort, whole } = place
  // Without the filters that are not understood the answer would be to another question.
  const table = misread.length === 0 ? place.table : undefined
  const question = JSON.stringify([table, filters, limit, whole, at, round])
  const sortKey = JSON.stringify(sort ?? null)
  const of = JSON.stringify([table, at])
  const by = JSON.stringify([filters, whole])
  const costly = JSON.stringify([of, by, limit])
  const pending = table !== undefined && asked.current?.question !== question
  const waiting = task.running || pending
  const settledHere = latest?.of === of ? latest : undefined
  const outcome = settledHere?.outcome
  const unanswered = settledHere?.by === by || waiting ? settledHere : undefined
  const { cost, problem } = unanswered ?? {}
  const elsewhere = outcome?.answer.source === "manifest" && outcome.answer.cursor !== null

  const settled = () => {
    onSettled(byHand.current)
    byHand.current = undefined
    quiet.current = false
  }

  const ask = (cursor: string | null, append: boolean) => {
    if (table === undefined) return
    const started = performance.now()
    const bound = agreed.current === costly ? {} : { maxRequests }
    const query = { collection: table, filters, limit, at, sort, cursor, projected: !whole, ...bound }
    task.run(source.query(query), {
      success: (answer) => {
        if (answer.cost !== undefined) {
          setLatest({ of, by, outcome, cost: answer.cost })
          announce(`Not asked yet: it takes up to ${counted(answer.cost.requests, "request")}.`)
          settled()
          return
        }
        const before = append && outcome !== undefined ? outcome.answer : undefined
        const documents = before === undefined ? answer.documents : [...before.documents, ...answer.documents]
        const columns =
          before === undefined ? answer.columns : [...new Set([...before.columns, ...answer.columns])]
        const unreadable = [...(before?.unreadable ?? []), ...(answer.unreadable ?? [])]
        const next: Outcome = {
          answer: { ...answer, documents, columns, ...(unreadable.length === 0 ? {} : { unreadable }) },
          filters,
          by,
          milliseconds: performance.now() - started
        }
        setLatest({ of, by, outcome: next })
        if (!quiet.current) {
          announce(documents.length === 0 ? `No documents in ${table} match.` : told(next))
        }
        settled()
        // The button that asked for more has gone with the last of it.
        if (append && answer.cursor === null) {
          requestAnimationFrame(() => document.querySelector<HTMLElement>(".table-scroll")?.focus())
        }
      },
      failure: (failure) => {
        setLatest({ of, by, problem: failure, outcome })
        alarmProblem(failure)
        settled()
      }
    })
  }

  useEffect(() => {
    if (table === undefined) {
      task.cancel()
      asked.current = undefined
      setLatest(undefined)
      return
    }
    const known = asked.current
    if (known?.question === question && (known.sort === sortKey || !elsewhere)) {
      asked.current = { question, sort: sortKey }
      return
    }
    asked.current = { question, sort: sortKey }
    ask(null, false)
  }, [source, question, sortKey])

  const expectFocus = () => {
    byHand.current = { from: document.activeElement }
  }

  const cancel = useCallback(() => {
    if (!task.running) return
    byHand.current = undefined
    task.cancel()
    announce("The run was cancelled.")
  }, [task.running])

  return {
    outcome,
    problem,
    cost,
    /** Asks what was held back for its cost. */
    agree: () => {
      agreed.current = costly
      setRound((n) => n + 1)
    },
    running: task.running,
    /** Whether the question of this place is being asked, or is about to be. */
    waiting,
    /** Whether the rows that stand there answer an older question. */
    old: outcome !== undefined && outcome.by !== by,
    /** Asks again, also when nothing changed, and moves the focus to the results afterwards. */
    again: () => {
      expectFocus()
      setRound((n) => n + 1)
    },
    /** Asks again behind what the person does: neither told nor focused. */
    renew: () => {
      quiet.current = true
      setRound((n) => n + 1)
    },
    expectFocus,
    more: () => {
      byHand.current = undefined
      ask(outcome?.answer.cursor ?? null, true)
    },
    cancel
  }
}
