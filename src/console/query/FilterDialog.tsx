import type { Filter } from "../../store/browse/Filter.js"
import { closeDialog, ModalDialog } from "../components/ModalDialog.js"
import { truncated } from "../values/Cell.js"
import { filterText } from "./FilterText.js"
import { type FilterTarget, suggestedFilters, withFilter } from "./SuggestedFilters.js"

/** Offers the filters of a cell or a header, and adds the selected one to the query. */
export const FilterDialog = (props: {
  readonly of: FilterTarget
  readonly filters: ReadonlyArray<Filter>
  readonly onFilters: (filters: ReadonlyArray<Filter>) => void
  readonly onClose: () => void
}) => (
  <ModalDialog titleId="filter-by-title" onClose={props.onClose}>
    <h2 id="filter-by-title">
      Filter by <bdi>{truncated(props.of.path)}</bdi>
    </h2>
    <div class="choices">
      {suggestedFilters(props.of).map((filter) => (
        <button
          key={filter.operator}
          type="button"
          class="button plain"
          onClick={(event) => {
            closeDialog(event)
            props.onFilters(withFilter(props.filters, filter))
          }}
        >
          <bdi>{truncated(filterText([filter]))}</bdi>
        </button>
      ))}
    </div>
    <div class="actions end">
      <button type="button" class="button quiet" onClick={closeDialog}>
        Cancel
      </button>
    </div>
  </ModalDialog>
)
