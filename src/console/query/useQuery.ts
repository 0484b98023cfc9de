import * as Effect from "effect/Effect"
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import type { QueryAnswer, QueryCost } from "../../store/browse/Browse.js"
import { alarmProblem, announce } from "../components/Announcer.js"
import { plural } from "../components/Plural.js"
import type { Problem } from "../components/Problem.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { Route } from "../navigation/Route.js"
import { type DataSourceService, loadModule } from "../source/DataSource.js"
import type { ReadProgress } from "../source/LongRead.js"
import { maxUnconfirmed } from "../source/RateBudget.js"
import { type TableColumns, tableColumns } from "./TableColumns.js"

export interface QueryOutcome {
  readonly answer: QueryAnswer
  readonly columns: TableColumns
  /** The filters of the query that returned the rows. */
  readonly filters: Route["filters"]
  /** The filters and `whole` as one text. */
  readonly by: string
  readonly milliseconds: number
}

/** The announcement of a result. */
const summary = ({ answer, milliseconds }: QueryOutcome): string => {
  const { collection, cursor, documents, source, total } = answer
  const of = total !== undefined && total > documents.length ? ` of ${total.toLocaleString("en")}` : ""
  return `${plural(documents.length, "document")}${of} from ${collection}, read from the ${
    source === "scan" ? "documents" : source
  } in ${Math.round(milliseconds).toLocaleString("en")} ms${cursor === null ? "" : "; more can be loaded"}.`
}

/** The result of a query. `of` is its collection and commit: rows are never shown for another one. */
interface QueryResult {
  readonly of: string
  readonly outcome?: QueryOutcome | undefined
  /** Why the query `by` failed; `outcome` is then the result of an older query. */
  readonly problem?: Problem | undefined
  /** Set if the query was not run because it needs confirmation. */
  readonly cost?: QueryCost | undefined
  readonly by: string
}

// Loaded when a long read is confirmed.
const longRead = loadModule(() => import("../source/LongRead.js"))

/** A query that the user started, and the focused element at that time. */
interface UserRequest {
  readonly from: Element | null
}

/** What a run of the query asks for. */
interface Run {
  /** The rows after the loaded ones, instead of the first ones. */
  readonly append?: boolean
  /** Only the order has changed. */
  readonly onlySort?: boolean
  /** All rows, read in steps, instead of one page. */
  readonly all?: boolean
}

/** Runs the query of the route whenever it changes. A newer query cancels an older one. */
export const useQuery = (
  source: DataSourceService,
  route: Route,
  onSettled: (asked: UserRequest | undefined) => void
) => {
  const [latest, setLatest] = useState<QueryResult | undefined>(undefined)
  const [round, setRound] = useState(0)
  const byHand = useRef<UserRequest | undefined>(undefined)
  const quiet = useRef(false)
  /** The confirmed query, and whether all of its rows were confirmed. */
  const agreed = useRef<
    { readonly query: string; readonly cost: QueryCost; readonly all: boolean } | undefined
  >(undefined)
  /** Whether the cost that is shown is that of all rows. */
  const costIsOfAll = useRef(false)
  const [progress, setProgress] = useState<ReadProgress | undefined>(undefined)
  const task = useEffectRunner()
  const asked = useRef<{ question: string; sort: string } | undefined>(undefined)
  const { at, filters, limit, invalidFilters, sort, whole } = route
  // The query does not run without its invalid filters.
  const collection = invalidFilters.length === 0 ? route.collection : undefined
  const question = JSON.stringify([collection, filters, limit, whole, at, round])
  const sortKey = JSON.stringify(sort)
  const of = JSON.stringify([collection, at])
  const by = JSON.stringify([filters, whole])
  const costly = JSON.stringify([of, by, limit])
  const pending = collection !== undefined && asked.current?.question !== question
  const waiting = task.running || pending
  const settledHere = latest?.of === of ? latest : undefined
  const outcome = settledHere?.outcome
  const unanswered = settledHere?.by === by || waiting ? settledHere : undefined
  const { cost, problem } = unanswered ?? {}
  // Rows that are not loaded may sort before loaded ones.
  const elsewhere = outcome !== undefined && outcome.answer.cursor !== null

  const settled = () => {
    onSettled(byHand.current)
    byHand.current = undefined
    quiet.current = false
  }

  const ask = ({ all = false, append = false, onlySort = false }: Run) => {
    if (collection === undefined) return
    const cursor = (append && outcome?.answer.cursor) || null
    const started = performance.now()
    const query = { collection, filters, limit, at, sort, cursor, projected: !whole }
    let shown = append ? outcome : undefined
    /** Appends an answer to the loaded rows. */
    const add = (answer: QueryAnswer): QueryOutcome => {
      const before = shown?.answer
      const documents = before === undefined ? answer.documents : [...before.documents, ...answer.documents]
      const columns =
        before === undefined ? answer.columns : [...new Set([...before.columns, ...answer.columns])]
      // Files are read ahead, so the previous page may have reported the same files.
      const unreadable = [...new Set([...(before?.unreadable ?? []), ...(answer.unreadable ?? [])])]
      const read = answer.read &&
        before?.read && {
          entries: before.read.entries + answer.read.entries,
          documents: before.read.documents + answer.read.documents
        }
      const merged = {
        ...answer,
        documents,
        columns,
        ...(read === undefined ? {} : { read }),
        ...(unreadable.length === 0 ? {} : { unreadable })
      }
      const next: QueryOutcome = {
        answer: merged,
        columns: tableColumns(merged, whole),
        filters,
        by,
        milliseconds: performance.now() - started
      }
      shown = next
      setLatest({ of, by, outcome: next })
      return next
    }
    const finish = (last: QueryOutcome) => {
      if (!quiet.current) {
        announce(last.answer.documents.length === 0 ? `No documents in ${collection} match.` : summary(last))
      }
      settled()
      // The button is removed after the last page, so the table gets the focus.
      if (append && last.answer.cursor === null) {
        requestAnimationFrame(() => document.querySelector<HTMLElement>(".table-scroll")?.focus())
      }
    }
    const failure = (problem: Problem) => {
      setLatest({ of, by, problem, outcome: shown ?? outcome })
      alarmProblem(problem)
      settled()
    }
    const readOn = (from: string | null) => {
      setProgress(undefined)
      const read = Effect.flatMap(longRead, ({ readInSteps }) =>
        readInSteps({
          ask: (cursor, limit) => source.query({ ...query, cursor, limit }),
          rate: source.rate,
          cursor: from,
          limit: all ? Infinity : limit,
          onAnswer: add,
          onProgress: setProgress
        })
      )
      task.run(read, { success: () => shown && finish(shown), failure })
    }
    const isAgreed = agreed.current?.query === costly && (agreed.current.all || !all)
    // Sorting alone does not start a long read.
    if (isAgreed && !onlySort) return readOn(cursor)
    task.run(source.query({ ...query, maxRequests: maxUnconfirmed, costOfAll: all }), {
      success: (answer) => {
        // No index has this order, so the loaded rows are sorted in the page.
        if (onlySort && answer.sorted !== true && outcome !== undefined && outcome.answer.sorted !== true) {
          setLatest({ of, by, outcome })
          settled()
          return
        }
        if (answer.cost === undefined) {
          const last = add(answer)
          return all && answer.cursor !== null ? readOn(answer.cursor) : finish(last)
        }
        costIsOfAll.current = all
        setLatest({ of, by, outcome, cost: answer.cost })
        announce(`Not run yet: the query needs up to ${plural(answer.cost.requests, "request")}.`)
        settled()
      },
      failure
    })
  }

  useEffect(() => {
    if (collection === undefined) {
      task.cancel()
      asked.current = undefined
      setLatest(undefined)
      return
    }
    const previous = asked.current
    if (previous?.question === question && (previous.sort === sortKey || !elsewhere)) {
      asked.current = { question, sort: sortKey }
      return
    }
    asked.current = { question, sort: sortKey }
    ask({ onlySort: previous?.question === question })
  }, [source, question, sortKey])

  const expectFocus = () => {
    byHand.current = { from: document.activeElement }
  }

  const cancel = useCallback(() => {
    if (!task.running) return
    byHand.current = undefined
    task.cancel()
    announce("Cancelled.")
  }, [task.running])

  return {
    outcome,
    problem,
    cost,
    /** Confirms the cost and runs the query. */
    agree: () => {
      if (cost === undefined) return
      const all = costIsOfAll.current
      agreed.current = { query: costly, cost, all }
      if (all) ask({ append: true, all })
      else setRound((n) => n + 1)
    },
    running: task.running,
    /** The cost of the running query, if it was confirmed. */
    spending: agreed.current?.query === costly ? agreed.current.cost : undefined,
    progress,
    /** Whether the query of this route is running or about to run. */
    waiting,
    /** Whether the rows are from an older query. */
    old: outcome !== undefined && outcome.by !== by,
    /** Runs the query again and moves the focus to the results. */
    again: () => {
      expectFocus()
      setRound((n) => n + 1)
    },
    /** Runs the query again without an announcement and without moving the focus. */
    renew: () => {
      quiet.current = true
      setRound((n) => n + 1)
    },
    expectFocus,
    /** Loads the next rows, or with `all` every one that matches. */
    more: (all: boolean) => {
      byHand.current = undefined
      ask({ append: true, all })
    },
    cancel
  }
}
