import type { ComponentChildren } from "preact"
import type { SessionView } from "../../http/console/Api.js"
import { lazyComponent } from "../components/LazyComponent.js"
import type { Route } from "../navigation/Route.js"
import type { Navigate } from "../navigation/useRoute.js"
import type { QueryOutcome } from "../query/useQuery.js"
import type { RowStep } from "../results/table/RowSteps.js"
import type { DataSourceService } from "../source/DataSource.js"

const CommitsPanel = lazyComponent(() =>
  import("../document/DocumentPanels.js").then((module) => module.CommitsPanel)
)
const DocumentPanel = lazyComponent(() =>
  import("../document/DocumentPanels.js").then((module) => module.DocumentPanel)
)
const EditPanels = lazyComponent(() => import("../edit/EditPanels.js").then((module) => module.EditPanels))
const TimelinePanel = lazyComponent(() =>
  import("../repository/RepositoryPanels.js").then((module) => module.TimelinePanel)
)
const BranchesPanel = lazyComponent(() =>
  import("../repository/RepositoryPanels.js").then((module) => module.BranchesPanel)
)
const ProposalsPanel = lazyComponent(() =>
  import("../repository/RepositoryPanels.js").then((module) => module.ProposalsPanel)
)

type PanelName = NonNullable<Route["panel"]> | "document"

const collectionEdits: ReadonlyArray<Route["panel"]> = ["edit", "import", "change"]

/** The panel that a route opens beside the table. */
export const panelOf = ({ collection, document, panel }: Route, readOnly: boolean): PanelName | undefined => {
  if (panel === "review" || panel === "timeline" || panel === "branches" || panel === "proposals")
    return panel
  if (collection === undefined) return undefined
  if (collectionEdits.includes(panel) && !readOnly) return panel
  if (document !== undefined) return panel === "history" ? "history" : "document"
  return panel === "commits" ? "commits" : undefined
}

/** The panel beside the table: a document, an editor, commits, branches or proposals. */
export const SidePanel = (props: {
  readonly panel: PanelName
  readonly route: Route
  readonly navigate: Navigate
  readonly source: DataSourceService
  readonly session: SessionView
  /** The prefix of the drafts' keys in the browser's storage. */
  readonly drafts: string
  readonly outcome: QueryOutcome | undefined
  readonly onStep: RowStep
  /** The ids of the selected rows. */
  readonly selectedIds: ReadonlyArray<string>
  /** Whether another branch is being opened. */
  readonly isSwitching: boolean
  readonly onSwitch: (branch: string) => void
  /** Called after this page has written a commit. */
  readonly onCommitted: () => void
  readonly onPublished: () => void
  readonly onClose: () => void
}) => {
  const { navigate, onClose, outcome, panel, route, session, source } = props
  const frame = {
    waiting: <aside class="panel" aria-busy="true" aria-label="Loading" />,
    failed: (card: ComponentChildren) => (
      <aside class="panel" aria-label="Loading failed">
        <div class="panel-body">
          {card}
          <button type="button" class="button plain" onClick={onClose}>
            Close
          </button>
        </div>
      </aside>
    )
  }
  const repositoryProps = {
    frame,
    source,
    repository: session.repo,
    branch: session.branch,
    at: route.at,
    readOnly: session.readOnly,
    onClose,
    onChanged: props.onCommitted
  }
  const collection = route.collection ?? ""

  switch (panel) {
    case "timeline":
      return <TimelinePanel {...repositoryProps} onAt={(at) => navigate({ at })} />
    case "branches":
      return <BranchesPanel {...repositoryProps} switching={props.isSwitching} onSwitch={props.onSwitch} />
    case "proposals":
      return <ProposalsPanel {...repositoryProps} />
    case "commits":
      return (
        <CommitsPanel
          key={collection}
          frame={frame}
          source={source}
          collection={collection}
          branch={session.branch}
          at={route.at}
          onAt={(at) => navigate({ at })}
          onAll={() => navigate({ panel: "timeline" })}
          onClose={onClose}
        />
      )
    case "document":
    case "history": {
      const id = route.document ?? ""
      return (
        <DocumentPanel
          key={`${collection}/${id}`}
          frame={frame}
          source={source}
          collection={collection}
          id={id}
          at={route.version ?? route.at}
          tableAt={route.at}
          tab={panel}
          readOnly={session.readOnly}
          onTab={(tab) => navigate({ panel: tab === "history" ? "history" : undefined })}
          onVersion={(version) => navigate({ version, panel: undefined })}
          onNow={() => navigate({ version: undefined, at: undefined, panel: undefined })}
          onStep={outcome === undefined ? undefined : props.onStep}
          onClose={onClose}
          onEdit={() => navigate({ document: id, panel: "edit" })}
          onChanged={props.onCommitted}
        />
      )
    }
    default:
      return (
        <EditPanels
          frame={frame}
          source={source}
          session={session}
          drafts={props.drafts}
          route={route}
          documents={outcome?.answer.documents ?? []}
          fields={outcome?.columns.all ?? []}
          selectedIds={props.selectedIds}
          navigate={navigate}
          onPublished={props.onPublished}
          onClose={onClose}
        />
      )
  }
}
