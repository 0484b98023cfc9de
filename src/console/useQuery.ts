import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { QueryAnswer } from "../store/browse/Browse.js"
import { alarm, announce, counted } from "./Announcer.js"
import type { DataSourceService } from "./DataSource.js"
import type { Place } from "./Place.js"
import type { Problem } from "./Problem.js"
import { useTask } from "./useTask.js"

export interface Outcome {
  readonly answer: QueryAnswer
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
  /** The filters it was asked with. */
  readonly by: string
  readonly outcome?: Outcome
  /** Beside an outcome: why no more of it came. */
  readonly problem?: Problem
}

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
  const task = useTask()
  const asked = useRef<{ question: string; sort: string } | undefined>(undefined)
  const { at, filters, limit, sort, table, whole } = place
  const question = JSON.stringify([table, filters, limit, whole, at, round])
  const sortKey = JSON.stringify(sort ?? null)
  const of = JSON.stringify([table, at])
  const by = JSON.stringify([filters, whole])
  const pending = table !== undefined && asked.current?.question !== question
  const waiting = task.running || pending
  // What answers other filters may stand while these are asked, and no longer.
  const { outcome, problem } = latest?.of === of && (latest.by === by || waiting) ? latest : {}
  const elsewhere = outcome?.answer.source === "manifest" && outcome.answer.cursor !== null

  const settled = () => {
    onSettled(byHand.current)
    byHand.current = undefined
    quiet.current = false
  }

  const ask = (cursor: string | null, append: boolean) => {
    if (table === undefined) return
    const started = performance.now()
    task.run(source.query({ collection: table, filters, limit, at, sort, cursor, projected: !whole }), {
      success: (answer) => {
        const before = append && outcome !== undefined ? outcome.answer : undefined
        const documents = before === undefined ? answer.documents : [...before.documents, ...answer.documents]
        const columns =
          before === undefined ? answer.columns : [...new Set([...before.columns, ...answer.columns])]
        const unreadable = [...(before?.unreadable ?? []), ...(answer.unreadable ?? [])]
        const next = {
          answer: { ...answer, documents, columns, ...(unreadable.length === 0 ? {} : { unreadable }) },
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
        setLatest({ of, by, problem: failure, ...(append && outcome !== undefined ? { outcome } : {}) })
        alarm(`${failure.title}. ${failure.message}`)
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
    running: task.running,
    /** Whether the rows that stand there answer an older question. */
    old: latest?.by !== by,
    /** Whether the question of this place is about to be asked. */
    pending,
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
