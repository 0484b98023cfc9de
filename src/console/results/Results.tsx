import type { RefObject } from "preact"
import { useEffect, useMemo, useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"
import { Icon } from "../components/Icon.js"
import { lazyComponent } from "../components/LazyComponent.js"
import { Menu } from "../components/Menu.js"
import { plural } from "../components/Plural.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { defaultColumnLimit, type Route } from "../navigation/Route.js"
import type { Navigate } from "../navigation/useRoute.js"
import { filterText } from "../query/FilterText.js"
import { focusFilter } from "../query/QueryForm.js"
import type { FilterTarget } from "../query/SuggestedFilters.js"
import { isWithin, type TableColumns } from "../query/TableColumns.js"
import type { useQuery } from "../query/useQuery.js"
import type { DataSourceService, RateBudget } from "../source/DataSource.js"
import { escapeBidi, shortCommit, truncated } from "../values/Cell.js"
import { arrangeColumns, useColumnLayout } from "./ColumnLayout.js"
import { explainQuery } from "./QueryExplanation.js"
import { ResultTable } from "./ResultTable.js"
import { ResultToolbar } from "./ResultToolbar.js"
import { useRowSelection } from "./RowSelection.js"
import { useSortedRows } from "./useSortedRows.js"

const NoCollections = lazyComponent(() =>
  import("../query/NoCollections.js").then((found) => found.NoCollections)
)
const CostCard = lazyComponent(() => import("../query/CostCard.js").then((found) => found.CostCard))
const FilterDialog = lazyComponent(() =>
  import("../query/FilterDialog.js").then((found) => found.FilterDialog)
)

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
  readonly route: Route
  readonly navigate: Navigate
  readonly session: SessionView
  readonly query: ReturnType<typeof useQuery>
  readonly heading: RefObject<HTMLHeadingElement | null>
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  readonly source: DataSourceService
  /** Whether there is no collection at all to choose from. */
  readonly hasNoCollections: boolean
  readonly onSession: (session: SessionView) => void
  readonly onSignOut: () => void
  /** Whether there is such a collection now. */
  readonly exists: boolean
  /** Whether single keys act. */
  readonly shortcuts: boolean
  readonly onSelected: (ids: ReadonlyArray<string>) => void
}) => {
  const { route, query, session } = props
  // What is pressed here goes away with what it changes: the focus goes to the heading instead.
  const ask: Navigate = (change) => {
    query.expectFocus()
    props.navigate(change)
  }
  const agree = () => {
    query.expectFocus()
    query.agree()
  }
  const { navigate } = props
  const [filterOf, setFilterOf] = useState<FilterTarget | undefined>(undefined)
  const answer = query.outcome?.answer
  const documents = answer?.documents ?? none
  const { all, initial, unread } = query.outcome?.columns ?? noColumns
  const chosen = route.columns
  const [layout, setLayout] = useColumnLayout(
    `chainstore.columns ${JSON.stringify([session.api, session.repo, session.root, route.collection])}`
  )
  const columns = useMemo(() => {
    const shown =
      chosen === "all"
        ? all
        : chosen === undefined
          ? initial.slice(0, defaultColumnLimit)
          : all.filter((column) => column === "_id" || chosen.some((field) => isWithin(column, field)))
    return arrangeColumns(shown, layout)
  }, [all, initial, JSON.stringify(chosen), layout.order, layout.pinned])
  const atServer = answer?.sorted === true && answer.cursor !== null
  const rows = useSortedRows(documents, route.sort, atServer)
  const collection = route.collection
  const isFixed = session.readOnly || route.at !== undefined
  const selection = useRowSelection(
    isFixed ? none : rows,
    JSON.stringify([session.api, session.repo, session.branch, session.root, collection])
  )
  const { ids: picked } = selection
  useEffect(() => props.onSelected(picked), [picked])
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
          {props.hasNoCollections ? (
            "No collections"
          ) : collection === undefined ? (
            "Choose a collection"
          ) : (
            <bdi>{collection}</bdi>
          )}
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
            {() => explainQuery(answer, route.sort.length > 0).map((words) => <p key={words}>{words}</p>)}
          </Menu>
        )}
        <span class="grow" />
        {collection === undefined ? null : (
          <div class="tools">
            {isFixed ? null : (
              <>
                <button
                  type="button"
                  class="button plain"
                  id="new"
                  onClick={() => navigate({ panel: "edit", document: undefined })}
                >
                  <Icon name="plus" />
                  New
                </button>
                <button
                  type="button"
                  class="button plain"
                  id="import"
                  onClick={() => navigate({ panel: "import", document: undefined })}
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
              onClick={() => navigate({ panel: "commits", document: undefined })}
            >
              <Icon name="clock" />
              Commits
            </button>
            <ResultToolbar
              name={collection}
              old={query.old}
              rows={rows}
              all={all}
              isInitial={initial.length === all.length && all.length <= defaultColumnLimit}
              columns={columns}
              layout={layout}
              onLayout={setLayout}
              session={session}
              route={route}
              onColumns={(next) => navigate({ columns: next })}
            />
          </div>
        )}
      </header>
      {route.at === undefined ? null : (
        <p class="banner">
          <Icon name="clock" />
          Showing the collection at <code title={route.at}>{shortCommit(route.at)}</code>
          <button type="button" class="button small quiet" onClick={() => ask({ at: undefined })}>
            Back to now
          </button>
        </p>
      )}
      {manifest !== undefined && !manifest.current ? (
        <p class="banner">
          The manifest is out of date
          {manifest.missing.length + manifest.extra.length === 0
            ? ". The rows were read from the documents."
            : `: ${manifest.missing.length} documents missing, ${manifest.extra.length} deleted. The rows were read from the documents.`}
        </p>
      ) : null}
      {unread.length === 0 ? null : (
        <p class="quiet-text note">
          The manifest does not include {unread.join(" and ")}.
          <button type="button" class="button small quiet" onClick={() => ask({ whole: true })}>
            Read the documents
          </button>
        </p>
      )}
      {answer?.unreadable === undefined ? null : (
        <p class="banner">
          {answer.unreadable.length === 1
            ? "1 file is not a valid document and is not shown:"
            : `${answer.unreadable.length} files are not valid documents and are not shown:`}
          {answer.unreadable.slice(0, 5).map((id) => (
            <button
              type="button"
              class="button small quiet"
              key={id}
              id={`open-${id}`}
              aria-label={`Open ${id}`}
              onClick={() => navigate({ document: id, panel: undefined })}
            >
              <bdi>{truncated(id)}</bdi>
            </button>
          ))}
          {answer.unreadable.length > 5 ? `and ${answer.unreadable.length - 5} more` : null}
        </p>
      )}
      {chosen === undefined && all.length > columns.length ? (
        <p class="quiet-text note">
          {initial.length === all.length ? "The first " : null}
          {columns.length} of {all.length.toLocaleString("en")} columns are shown.
          <button type="button" class="button small quiet" onClick={() => navigate({ columns: "all" })}>
            Show all
          </button>
        </p>
      ) : null}
      {route.invalidFilters.length === 0 ? null : (
        <div class="card problem">
          <h2>This link contains an invalid filter</h2>
          <p>
            <code>{truncated(route.invalidFilters.join(" and "))}</code> is not a valid filter, so the query
            was not run. Check the link, or enter the filter above.
          </p>
          <button type="button" class="button plain" onClick={() => ask({ invalidFilters: [] })}>
            {route.filters.length === 0 ? "Show all documents" : "Use only the other filters"}
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
          filters={route.filters}
        >
          <RunButton running={query.running} onClick={agree}>
            Run anyway
          </RunButton>
        </CostCard>
      )}
      {query.old && !query.waiting && answer !== undefined && rows.length > 0 ? (
        <p class="banner">
          These rows are from an earlier query
          {earlier.length === 0 ? ", without a filter" : null}
          {earlier.length === 0 ? null : (
            <>
              : <code>{escapeBidi(filterText(earlier))}</code>
            </>
          )}
          . The current query has no result.
        </p>
      ) : null}
      {answer === undefined || (query.old && rows.length === 0) ? (
        query.waiting ? (
          <Skeleton />
        ) : props.hasNoCollections ? (
          <NoCollections
            frame={{ waiting: <Skeleton />, failed: (card) => card }}
            source={props.source}
            session={session}
            onSession={props.onSession}
            onSignOut={props.onSignOut}
          />
        ) : query.problem !== undefined ||
          query.cost !== undefined ||
          route.invalidFilters.length > 0 ? null : (
          <div class="empty">
            <h3>No query yet</h3>
            <p>Choose a collection, or enter a filter above and run it.</p>
          </div>
        )
      ) : (
        <>
          {picked.length === 0 ? null : (
            <p class="banner chosen">
              {plural(picked.length, "row")} selected
              <button
                type="button"
                class="button small quiet"
                id="change"
                onClick={() => navigate({ panel: "change", document: undefined })}
              >
                Change or delete
              </button>
              <button type="button" class="button small quiet" onClick={() => selection.selectAll(false)}>
                Clear selection
              </button>
            </p>
          )}
          <ResultTable
            caption={`${plural(rows.length, "document")} of ${collection}`}
            rows={rows}
            columns={columns}
            unread={unread}
            all={all}
            layout={layout}
            onLayout={setLayout}
            sort={route.sort}
            onSort={(sort) => navigate({ sort })}
            onOpen={(id) => navigate({ document: id, panel: undefined })}
            onFilter={setFilterOf}
            opened={route.document}
            selection={isFixed ? undefined : selection}
            shortcuts={props.shortcuts}
          />
          {filterOf === undefined ? null : (
            <FilterDialog
              frame={{ waiting: null, failed: (card) => card }}
              of={filterOf}
              filters={route.filters}
              onFilters={(filters) => ask({ filters })}
              onClose={() => setFilterOf(undefined)}
            />
          )}
          {rows.length > 0 ? null : (
            <div class="empty">
              <h3>No documents</h3>
              {route.filters.length === 0 ? (
                props.exists || route.at !== undefined ? (
                  <p>
                    <bdi>{collection}</bdi> has no documents
                    {route.at === undefined ? "" : " at this commit"}.
                  </p>
                ) : (
                  <p>
                    There is no collection <bdi>{collection}</bdi> here.
                  </p>
                )
              ) : (
                <>
                  <p>
                    Nothing in <bdi>{collection}</bdi> matches{" "}
                    <code>{escapeBidi(filterText(route.filters))}</code>.
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
                Load the next {route.limit}
              </RunButton>
              {route.sort.length === 0 || atServer ? null : (
                <span class="quiet-text">Sorted within the {rows.length} rows loaded.</span>
              )}
            </div>
          )}
        </>
      )}
    </section>
  )
}
