import { useRef } from "preact/hooks"
import type { Filter } from "../../store/browse/Filter.js"
import { focusedElement, useModal } from "../components/Focus.js"
import { clipped } from "../values/Cell.js"
import { cellFilters, type FilterPlace, withFilter } from "./CellFilters.js"
import { filterText } from "./FilterWords.js"

/** The filters that a cell or a header offers: the one that is chosen is added to the query. */
export const FilterDialog = (props: {
  readonly of: FilterPlace
  readonly filters: ReadonlyArray<Filter>
  readonly onFilters: (filters: ReadonlyArray<Filter>) => void
  readonly onClose: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useModal(dialog, focusedElement)
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="filter-by-title" onClose={props.onClose}>
      <h2 id="filter-by-title">
        Filter by <bdi>{clipped(props.of.path)}</bdi>
      </h2>
      <div class="choices">
        {cellFilters(props.of).map((filter) => (
          <button
            key={filter.operator}
            type="button"
            class="button plain"
            onClick={() => {
              dialog.current?.close()
              props.onFilters(withFilter(props.filters, filter))
            }}
          >
            <bdi>{clipped(filterText([filter]))}</bdi>
          </button>
        ))}
      </div>
      <div class="actions end">
        <button type="button" class="button quiet" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
      </div>
    </dialog>
  )
}
