import type { ComponentChildren, RefObject } from "preact"
import type { QueryAnswer } from "../../store/browse/Browse.js"
import { Icon } from "../components/Icon.js"
import { lazyComponent } from "../components/LazyComponent.js"
import { Menu } from "../components/Menu.js"
import type { Navigate } from "../navigation/useRoute.js"

const QueryExplanation = lazyComponent(() =>
  import("./QueryExplanation.js").then((module) => module.QueryExplanation)
)

const countOf = ({ cursor, documents, total }: QueryAnswer): string => {
  const loaded = documents.length.toLocaleString("en")
  if (total !== undefined && total > documents.length) return `${loaded} of ${total.toLocaleString("en")}`
  return cursor === null ? loaded : `${loaded}+`
}

/** The title of the results with their number and source, and the buttons of the collection. */
export const ResultHeader = (props: {
  readonly title: ComponentChildren
  readonly heading: RefObject<HTMLHeadingElement | null>
  readonly answer: QueryAnswer | undefined
  readonly isSorted: boolean
  /** Whether a collection is chosen. */
  readonly hasCollection: boolean
  readonly canEdit: boolean
  /** Offers to create an index beside the explanation of a scan; undefined if none can be created. */
  readonly onCreateIndex: (() => void) | undefined
  readonly navigate: Navigate
  /** The buttons for columns and export. */
  readonly children: ComponentChildren
}) => {
  const { answer, navigate } = props
  const onCreateIndex = answer?.source === "scan" ? props.onCreateIndex : undefined
  return (
    <header class="results-head">
      <h2 id="results-title" ref={props.heading} tabIndex={-1}>
        {props.title}
        {answer === undefined ? null : <span class="results-count">{countOf(answer)}</span>}
      </h2>
      {answer === undefined ? null : (
        <Menu
          label={answer.source === "scan" ? "from the documents" : `from the ${answer.source}`}
          kind={`source ${answer.source}${onCreateIndex === undefined ? "" : " indexable"}`}
          id="explain"
        >
          {(close) => (
            <QueryExplanation
              frame={{ waiting: <p>Loading…</p>, failed: (card) => card }}
              answer={answer}
              isSorted={props.isSorted}
              onCreateIndex={
                onCreateIndex &&
                (() => {
                  close()
                  onCreateIndex()
                })
              }
            />
          )}
        </Menu>
      )}
      <span class="grow" />
      {!props.hasCollection ? null : (
        <div class="tools">
          {!props.canEdit ? null : (
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
          {props.children}
        </div>
      )}
    </header>
  )
}
