import type { Route } from "../navigation/Route.js"
import { filterText } from "../query/FilterText.js"
import { escapeBidi } from "../values/Cell.js"

/** Says why a result has no rows. */
export const NoDocuments = (props: {
  readonly route: Route
  /** Whether the collection exists now. */
  readonly exists: boolean
  readonly onClearFilter: () => void
}) => {
  const { at, collection, filters } = props.route
  return (
    <div class="empty">
      <h3>No documents</h3>
      {filters.length > 0 ? (
        <>
          <p>
            Nothing in <bdi>{collection}</bdi> matches <code>{escapeBidi(filterText(filters))}</code>.
          </p>
          <button type="button" class="button plain" onClick={props.onClearFilter}>
            Clear the filter
          </button>
        </>
      ) : props.exists || at !== undefined ? (
        <p>
          <bdi>{collection}</bdi> has no documents{at === undefined ? "" : " at this commit"}.
        </p>
      ) : (
        <p>
          There is no collection <bdi>{collection}</bdi> here.
        </p>
      )}
    </div>
  )
}
