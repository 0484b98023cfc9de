import type { RefObject } from "preact"
import { useEffect, useMemo, useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"
import { counted } from "../components/Announcer.js"
import { RunButton } from "../components/Busy.js"
import { Icon } from "../components/Icon.js"
import { Menu } from "../components/Menu.js"
import { part } from "../components/Part.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { bearable, type Place } from "../place/Place.js"
import type { Go } from "../place/usePlace.js"
import type { FilterPlace } from "../query/CellFilters.js"
import { filterText } from "../query/FilterWords.js"
import { focusFilter } from "../query/QueryForm.js"
import { isWithin, type TableColumns } from "../query/TableColumns.js"
import type { useQuery } from "../query/useQuery.js"
import type { DataSourceService, RateBudget } from "../source/DataSource.js"
import { clipped, shortCommit, visible } from "../values/Cell.js"
import { arranged, useLayout } from "./ColumnLayout.js"
import { explained } from "./Explained.js"
import { ResultTable } from "./ResultTable.js"
import { ResultTools } from "./ResultTools.js"
import { useSelection } from "./Selection.js"
import { useRows } from "./useRows.js"

const NoCollections = part(() => import("../query/NoCollections.js").then((found) => found.NoCollections))
const CostCard = part(() => import("../query/CostCard.js").then((found) => found.CostCard))
const FilterDialog = part(() => import("../query/FilterDialog.js").then((found) => found.FilterDialog))

const none: ReadonlyArray<never> = []
const noColumns: TableColumns = { all: none, initial: none, unread: none }

const Skeleton = () => (
  <div class="skeleton-table" aria-hidden="true">
    {Array.from({ length: 12 }, (_, i) => (
      <span key={i} />
    ))}
  </div>
)

/** The answer to the query: a table, an empty table that says so, or what went wrong. */
export const Results = (props: {
  readonly place: Place
  readonly go: Go
  readonly session: SessionView
  readonly query: ReturnType<typeof useQuery>
  readonly heading: RefObject<HTMLHeadingElement | null>
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  readonly source: DataSourceService
  /** Whether there is no collection at all to choose from. */
  readonly barren: boolean
  readonly onSession: (session: SessionView) => void
  readonly onSignOut: () => void
  /** Whether there is such a collection now. */
  readonly known: boolean
  /** Whether single keys act. */
  readonly shortcuts: boolean
  readonly onChosen: (ids: ReadonlyArray<string>) => void
}) => {
  const { place, query, session } = props
  // What is pressed here goes away with what it changes: the focus goes to the heading instead.
  const ask: Go = (change) => {
    query.expectFocus()
    props.go(change)
  }
  const agree = () => {
    query.expectFocus()
    query.agree()
  }
  const { go } = props
  const [filterOf, setFilterOf] = useState<FilterPlace | undefined>(undefined)
  const answer = query.outcome?.answer
  const documents = answer?.documents ?? none
  const { all, initial, unread } = query.outcome?.columns ?? noColumns
  const chosen = place.columns
  const [layout, setLayout] = useLayout(
    `chainstore.columns ${JSON.stringify([session.api, session.repo, session.root, place.table])}`
  )
  const columns = useMemo(() => {
    const shown =
      chosen === "all"
        ? all
        : chosen === undefined
          ? initial.slice(0, bearable)
          : all.filter((column) => column === "_id" || chosen.some((field) => isWithin(column, field)))
    return arranged(shown, layout)
  }, [all, initial, JSON.stringify(chosen), layout.order, layout.pinned])
  const atServer = answer?.sorted === true && answer.cursor !== null
  const rows = useRows(documents, place.sort, atServer)
  const table = place.table
  const isFixed = session.readOnly || place.at !== undefined
  const selection = useSelection(
    isFixed ? none : rows,
    JSON.stringify([session.api, session.repo, session.branch, session.root, table])
  )
  const { ids: picked } = selection
  useEffect(() => props.onChosen(picked), [picked])
  const manifest = answer?.manifest
  const earlier = query.outcome?.filters ?? none
  const cost = query.running ? query.spending : query.cost

  return (
    <section
      class={query.old && answer !== undefined ? "results old" : "results"}
      aria-labelledby="results-title"
      aria-busy={query.running}
    >
      <header class="results-head">
        <h2 id="results-title" ref={props.heading} tabIndex={-1}>
          {props.barren ? "No collections" : table === undefined ? "Choose a collection" : <bdi>{table}</bdi>}
          {answer === undefined ? null : (
            <span class="results-count">
              {documents.length.toLocaleString("en")}
              {answer.total !== undefined && answer.total > documents.length
                ? ` of ${answer.total.toLocaleString("en")}`
                : answer.cursor === null
                  ? ""
                  : "+"}
            </span>
          )}
        </h2>
        {answer === undefined ? null : (
          <Menu
            label={answer.source === "scan" ? "from the documents" : `from the ${answer.source}`}
            kind={`source ${answer.source}`}
            id="explain"
          >
            {() => explained(answer, place.sort.length > 0).map((words) => <p key={words}>{words}</p>)}
          </Menu>
        )}
        <span class="grow" />
        {table === undefined ? null : (
          <div class="tools">
            {isFixed ? null : (
              <>
                <button
                  type="button"
                  class="button plain"
                  id="new"
                  onClick={() => go({ panel: "edit", document: undefined })}
                >
                  <Icon name="plus" />
                  New
                </button>
                <button
                  type="button"
                  class="button plain"
                  id="import"
                  onClick={() => go({ panel: "import", document: undefined })}
                >
                  <Icon name="load" />
                  Import
                </button>
              </>
            )}
            <button
              type="button"
              class="button plain"
              id="commits"
              onClick={() => go({ panel: "commits", document: undefined })}
            >
              <Icon name="clock" />
              Commits
            </button>
            <ResultTools
              name={table}
              old={query.old}
              rows={rows}
              all={all}
              isInitial={initial.length === all.length && all.length <= bearable}
              columns={columns}
              layout={layout}
              onLayout={setLayout}
              session={session}
              place={place}
              onColumns={(next) => go({ columns: next })}
            />
          </div>
        )}
      </header>
      {place.at === undefined ? null : (
        <p class="banner">
          <Icon name="clock" />
          The table as it was at <code title={place.at}>{shortCommit(place.at)}</code>
          <button type="button" class="button small quiet" onClick={() => ask({ at: undefined })}>
            Back to now
          </button>
        </p>
      )}
      {manifest !== undefined && !manifest.current ? (
        <p class="banner">
          The manifest is behind the documents
          {manifest.missing.length + manifest.extra.length === 0
            ? "; the rows come from the documents."
            : `: ${manifest.missing.length} not in it, ${manifest.extra.length} gone. The rows come from the documents.`}
        </p>
      ) : null}
      {unread.length === 0 ? null : (
        <p class="quiet-text note">
          The manifest does not hold {unread.join(" and ")}.
          <button type="button" class="button small quiet" onClick={() => ask({ whole: true })}>
            Read the documents
          </button>
        </p>
      )}
      {answer?.unreadable === undefined ? null : (
        <p class="banner">
          {answer.unreadable.length === 1
            ? "1 file holds no readable document and is left out:"
            : `${answer.unreadable.length} files hold no readable document and are left out:`}
          {answer.unreadable.slice(0, 5).map((id) => (
            <button
              type="button"
              class="button small quiet"
              key={id}
              id={`open-${id}`}
              aria-label={`Open ${id}`}
              onClick={() => go({ document: id, panel: undefined })}
            >
              <bdi>{clipped(id)}</bdi>
            </button>
          ))}
          {answer.unreadable.length > 5 ? `and ${answer.unreadable.length - 5} more` : null}
        </p>
      )}
      {chosen === undefined && all.length > columns.length ? (
        <p class="quiet-text note">
          {initial.length === all.length ? "The first " : null}
          {columns.length} of {all.length.toLocaleString("en")} columns are shown.
          <button type="button" class="button small quiet" onClick={() => go({ columns: "all" })}>
            Show all
          </button>
        </p>
      ) : null}
      {place.misread.length === 0 ? null : (
        <div class="card problem">
          <h2>A filter of this address is not understood</h2>
          <p>
            <code>{clipped(place.misread.join(" and "))}</code> is not a filter of this page, so nothing was
            asked: rows without it would answer another question. Ask for the address again, or write the
            filter above.
          </p>
          <button type="button" class="button plain" onClick={() => ask({ misread: [] })}>
            {place.filters.length === 0 ? "Show all documents" : "Use the other filters alone"}
          </button>
        </div>
      )}
      {query.problem === undefined ? null : (
        <ProblemCard problem={query.problem}>
          <RunButton running={query.running} onClick={() => query.again()}>
            Try again
          </RunButton>
        </ProblemCard>
      )}
      {cost === undefined ? null : (
        <CostCard
          frame={{ waiting: null, failed: (card) => card }}
          cost={cost}
          running={query.running}
          progress={query.progress}
          onNarrow={focusFilter}
          budgets={props.budgets}
          filters={place.filters}
        >
          <RunButton running={query.running} onClick={agree}>
            Read them
          </RunButton>
        </CostCard>
      )}
      {query.old && !query.waiting && answer !== undefined && rows.length > 0 ? (
        <p class="banner">
          These rows answer an earlier question
          {earlier.length === 0 ? ", without a filter" : null}
          {earlier.length === 0 ? null : (
            <>
              : <code>{visible(filterText(earlier))}</code>
            </>
          )}
          . The question above was not answered.
        </p>
      ) : null}
      {answer === undefined || (query.old && rows.length === 0) ? (
        query.waiting ? (
          <Skeleton />
        ) : props.barren ? (
          <NoCollections
            frame={{ waiting: <Skeleton />, failed: (card) => card }}
            source={props.source}
            session={session}
            onSession={props.onSession}
            onSignOut={props.onSignOut}
          />
        ) : query.problem !== undefined || query.cost !== undefined || place.misread.length > 0 ? null : (
          <div class="empty">
            <h3>Nothing asked yet</h3>
            <p>Choose a collection, or write a filter above and run it.</p>
          </div>
        )
      ) : (
        <>
          {picked.length === 0 ? null : (
            <p class="banner chosen">
              {counted(picked.length, "row")} chosen
              <button
                type="button"
                class="button small quiet"
                id="change"
                onClick={() => go({ panel: "change", document: undefined })}
              >
                Change or delete
              </button>
              <button type="button" class="button small quiet" onClick={() => selection.choose(false)}>
                Choose none
              </button>
            </p>
          )}
          <ResultTable
            caption={`${counted(rows.length, "document")} of ${table}`}
            rows={rows}
            columns={columns}
            unread={unread}
            all={all}
            layout={layout}
            onLayout={setLayout}
            sort={place.sort}
            onSort={(sort) => go({ sort })}
            onOpen={(id) => go({ document: id, panel: undefined })}
            onFilter={setFilterOf}
            opened={place.document}
            selection={isFixed ? undefined : selection}
            shortcuts={props.shortcuts}
          />
          {filterOf === undefined ? null : (
            <FilterDialog
              frame={{ waiting: null, failed: (card) => card }}
              of={filterOf}
              filters={place.filters}
              onFilters={(filters) => ask({ filters })}
              onClose={() => setFilterOf(undefined)}
            />
          )}
          {rows.length > 0 ? null : (
            <div class="empty">
              <h3>No documents</h3>
              {place.filters.length === 0 ? (
                props.known || place.at !== undefined ? (
                  <p>
                    <bdi>{table}</bdi> holds no documents{place.at === undefined ? "" : " at this commit"}.
                  </p>
                ) : (
                  <p>
                    There is no collection <bdi>{table}</bdi> here.
                  </p>
                )
              ) : (
                <>
                  <p>
                    Nothing in <bdi>{table}</bdi> matches <code>{visible(filterText(place.filters))}</code>.
                  </p>
                  <button type="button" class="button plain" onClick={() => ask({ filters: [] })}>
                    Clear the filter
                  </button>
                </>
              )}
            </div>
          )}
          {answer.cursor === null ? null : (
            <div class="more">
              <RunButton running={query.running} onClick={query.more}>
                Load the next {place.limit}
              </RunButton>
              {place.sort.length === 0 || atServer ? null : (
                <span class="quiet-text">Sorted within the {rows.length} rows loaded.</span>
              )}
            </div>
          )}
        </>
      )}
    </section>
  )
}
