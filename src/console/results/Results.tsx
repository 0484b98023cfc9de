import type { RefObject } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"
import { announce } from "../components/Announcer.js"
import { lazyComponent } from "../components/LazyComponent.js"
import { plural } from "../components/Plural.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { defaultColumnLimit, type Route } from "../navigation/Route.js"
import type { Navigate } from "../navigation/useRoute.js"
import { filterText } from "../query/FilterText.js"
import { indexableFields } from "../query/IndexableFields.js"
import { focusFilter } from "../query/QueryForm.js"
import type { FilterTarget } from "../query/SuggestedFilters.js"
import type { TableColumns } from "../query/TableColumns.js"
import type { useQuery } from "../query/useQuery.js"
import type { DataSourceService, RateBudget } from "../source/DataSource.js"
import { escapeBidi, truncated } from "../values/Cell.js"
import { ResultHeader } from "./ResultHeader.js"
import { ResultNotices } from "./ResultNotices.js"
import { ResultToolbar } from "./ResultToolbar.js"
import { useColumnLayout } from "./table/ColumnLayout.js"
import { useDensity } from "./table/Density.js"
import { ResultTable } from "./table/ResultTable.js"
import { useRowSelection } from "./table/RowSelection.js"
import type { RowStep } from "./table/RowSteps.js"
import { useSortedRows } from "./useSortedRows.js"
import { useVisibleColumns } from "./useVisibleColumns.js"

const NoCollections = lazyComponent(() =>
  import("../query/NoCollections.js").then((module) => module.NoCollections)
)
const NoDocuments = lazyComponent(() => import("./NoDocuments.js").then((module) => module.NoDocuments))
const HomePage = lazyComponent(() => import("../home/HomePage.js").then((module) => module.HomePage))
const CostCard = lazyComponent(() => import("../query/CostCard.js").then((module) => module.CostCard))
const CreateIndexDialog = lazyComponent(() =>
  import("../query/CreateIndexDialog.js").then((module) => module.CreateIndexDialog)
)
const FilterDialog = lazyComponent(() =>
  import("../query/FilterDialog.js").then((module) => module.FilterDialog)
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

/** The results of the query: a table, or why there is none. */
export const Results = (props: {
  readonly route: Route
  readonly navigate: Navigate
  readonly session: SessionView
  readonly query: ReturnType<typeof useQuery>
  readonly heading: RefObject<HTMLHeadingElement | null>
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  readonly source: DataSourceService
  readonly collections: ReadonlyArray<string>
  readonly hasNoCollections: boolean
  readonly onChoose: (collection: string) => void
  /** Opens the sign-in form of another repository. */
  readonly onOpenRepository: (route: Pick<Route, "api" | "repo" | "branch" | "root">) => void
  readonly onSession: (session: SessionView) => void
  readonly onSignOut: () => void
  /** Whether the collection of the route exists now. */
  readonly exists: boolean
  /** Whether single-key shortcuts are active. */
  readonly shortcuts: boolean
  readonly onSelected: (ids: ReadonlyArray<string>) => void
  /** Set by the table. */
  readonly step: RefObject<RowStep | null>
}) => {
  const { hasNoCollections, navigate, query, route, session } = props
  const { api, branch, repo, root } = session
  const { collection, columns: selectedColumns, invalidFilters, sort } = route
  const [creatingIndex, setCreatingIndex] = useState(false)
  const [filterTarget, setFilterTarget] = useState<FilterTarget | undefined>(undefined)
  const answer = query.outcome?.answer
  const documents = answer?.documents ?? none
  const tableColumns = query.outcome?.columns ?? noColumns
  const { all, initial, unread } = tableColumns
  const [density, setDensity] = useDensity()
  const [layout, setLayout] = useColumnLayout(
    `chainstore.columns ${JSON.stringify([api, repo, root, collection])}`
  )
  const columns = useVisibleColumns(tableColumns, selectedColumns, layout)
  const isSortedByServer = answer?.sorted === true && answer.cursor !== null
  const rows = useSortedRows(documents, sort, isSortedByServer)
  const canEdit = !session.readOnly && route.at === undefined
  const selection = useRowSelection(
    canEdit ? rows : none,
    JSON.stringify([api, repo, branch, root, collection])
  )
  useEffect(() => props.onSelected(selection.ids), [selection.ids])
  const cost = query.running ? query.spending : query.cost
  const resultFilters = query.outcome?.filters ?? none
  const indexable = canEdit ? indexableFields(route) : none
  const onCreateIndex = indexable.length === 0 ? undefined : () => setCreatingIndex(true)

  // The pressed button is removed with the old results, so the heading gets the focus.
  const navigateToQuery: Navigate = (change) => {
    query.expectFocus()
    navigate(change)
  }
  const runDespiteCost = () => {
    query.expectFocus()
    query.agree()
  }

  return (
    <section
      class={query.old && answer !== undefined ? "results old" : "results"}
      aria-labelledby="results-title"
      aria-busy={query.running}
    >
      <ResultHeader
        title={
          hasNoCollections ? "No collections" : collection === undefined ? "Home" : <bdi>{collection}</bdi>
        }
        heading={props.heading}
        answer={answer}
        isSorted={sort.length > 0}
        hasCollection={collection !== undefined}
        canEdit={canEdit}
        onCreateIndex={onCreateIndex}
        navigate={navigate}
      >
        <ResultToolbar
          name={collection ?? ""}
          old={query.old}
          rows={rows}
          all={all}
          isInitial={initial.length === all.length && all.length <= defaultColumnLimit}
          columns={columns}
          layout={layout}
          onLayout={setLayout}
          density={density}
          onDensity={setDensity}
          session={session}
          route={route}
          onEverything={answer === undefined || answer.cursor === null ? undefined : () => query.more(true)}
          onColumns={(next) => navigate({ columns: next })}
        />
      </ResultHeader>
      <ResultNotices
        at={route.at}
        answer={answer}
        columns={tableColumns}
        initialCount={selectedColumns === undefined ? columns.length : undefined}
        navigate={navigate}
        onQuery={navigateToQuery}
      />
      {invalidFilters.length === 0 ? null : (
        <div class="card problem">
          <h2>This link contains an invalid filter</h2>
          <p>
            <code>{truncated(invalidFilters.join(" and "))}</code> is not a valid filter, so the query was not
            run. Check the link, or enter the filter above.
          </p>
          <button type="button" class="button plain" onClick={() => navigateToQuery({ invalidFilters: [] })}>
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
          onCreateIndex={onCreateIndex}
        >
          <RunButton running={query.running} onClick={runDespiteCost}>
            Run anyway
          </RunButton>
        </CostCard>
      )}
      {creatingIndex && collection !== undefined && indexable.length > 0 ? (
        <CreateIndexDialog
          frame={{ waiting: null, failed: (card) => card }}
          source={props.source}
          collection={collection}
          fields={indexable}
          requests={query.cost?.requests}
          onClose={(unknown) => {
            setCreatingIndex(false)
            if (unknown) announce("Stopped waiting for the index. The timeline shows whether it was created.")
          }}
          onDone={() => {
            setCreatingIndex(false)
            query.again()
          }}
        />
      ) : null}
      {query.old && !query.waiting && answer !== undefined && rows.length > 0 ? (
        <p class="banner">
          These rows are from an earlier query
          {resultFilters.length === 0 ? (
            ", without a filter"
          ) : (
            <>
              : <code>{escapeBidi(filterText(resultFilters))}</code>
            </>
          )}
          . The current query has no result.
        </p>
      ) : null}
      {answer === undefined || (query.old && rows.length === 0) ? (
        query.waiting ? (
          <Skeleton />
        ) : hasNoCollections ? (
          <NoCollections
            frame={{ waiting: <Skeleton />, failed: (card) => card }}
            source={props.source}
            session={session}
            onSession={props.onSession}
            onSignOut={props.onSignOut}
          />
        ) : collection === undefined && invalidFilters.length === 0 ? (
          <HomePage
            frame={{ waiting: <Skeleton />, failed: (card) => card }}
            source={props.source}
            session={session}
            collections={props.collections}
            budgets={props.budgets}
            navigate={navigate}
            onChoose={props.onChoose}
            onOpen={props.onOpenRepository}
          />
        ) : query.problem !== undefined || query.cost !== undefined || invalidFilters.length > 0 ? null : (
          <div class="empty">
            <h3>No query yet</h3>
            <p>Choose a collection, or enter a filter above and run it.</p>
          </div>
        )
      ) : (
        <>
          {selection.ids.length === 0 ? null : (
            <p class="banner chosen">
              {plural(selection.ids.length, "row")} selected
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
            density={density}
            sort={sort}
            onSort={(next) => navigate({ sort: next })}
            onOpen={(id) => navigate({ document: id, panel: undefined })}
            onFilter={setFilterTarget}
            opened={route.document}
            selection={canEdit ? selection : undefined}
            shortcuts={props.shortcuts}
            step={props.step}
          />
          {filterTarget === undefined ? null : (
            <FilterDialog
              frame={{ waiting: null, failed: (card) => card }}
              of={filterTarget}
              filters={route.filters}
              onFilters={(filters) => navigateToQuery({ filters })}
              onClose={() => setFilterTarget(undefined)}
            />
          )}
          {rows.length > 0 ? null : (
            <NoDocuments
              frame={{ waiting: null, failed: (card) => card }}
              route={route}
              exists={props.exists}
              onClearFilter={() => navigateToQuery({ filters: [] })}
            />
          )}
          {answer.cursor === null ? null : (
            <div class="more">
              <RunButton running={query.running} onClick={() => query.more(false)}>
                Load the next {route.limit}
              </RunButton>
              <RunButton running={query.running} kind="quiet" onClick={() => query.more(true)}>
                Load everything that matches
              </RunButton>
              {sort.length === 0 || isSortedByServer ? null : (
                <span class="quiet-text">Sorted within the {rows.length} rows loaded.</span>
              )}
            </div>
          )}
        </>
      )}
    </section>
  )
}
