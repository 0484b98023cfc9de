import { useEffect, useId, useRef, useState } from "preact/hooks"
import {
  type Filter,
  type Operator,
  operators,
  parseValue,
  printValue,
  takesValue
} from "../../store/browse/Filter.js"
import { Icon } from "../components/Icon.js"
import { RunButton } from "../components/RunButton.js"
import type { Route } from "../navigation/Route.js"
import { escapeBidi, shortCommit } from "../values/Cell.js"
import { filterText, operatorLabels } from "./FilterText.js"

interface Row {
  readonly key: number
  readonly path: string
  readonly operator: Operator
  readonly value: string
}

let keys = 0
const empty = (): Row => ({ key: ++keys, path: "", operator: "is", value: "" })

const rowsOf = (filters: ReadonlyArray<Filter>): ReadonlyArray<Row> =>
  filters.length === 0
    ? [empty()]
    : filters.map(({ operator, path, value }) => ({
        key: ++keys,
        path,
        operator,
        value: value === undefined ? "" : printValue(value)
      }))

const filtersOf = (rows: ReadonlyArray<Row>): ReadonlyArray<Filter> =>
  rows
    .filter((row) => row.path.trim() !== "")
    .map(({ operator, path, value }) =>
      takesValue(operator)
        ? { path: path.trim(), operator, value: parseValue(value) }
        : { path: path.trim(), operator }
    )

/** The parts of a query as short texts. */
const chipsOf = ({ at, collection, filters, limit, whole }: Route): ReadonlyArray<string> => [
  ...(filters.length > 0
    ? filters.map((filter) => filterText([filter]))
    : [collection === undefined ? "no collection chosen" : "all documents"]),
  ...(at === undefined ? [] : [`at ${shortCommit(at)}`]),
  ...(limit === 50 ? [] : [`limit ${limit}`]),
  ...(whole ? ["whole documents"] : [])
]

/** Focuses the first filter, and unfolds the form on a narrow page. */
export const focusFilter = (): void => {
  const toggle = document.getElementById("query-toggle")
  if (toggle?.getAttribute("aria-expanded") === "false") toggle.click()
  requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-first="true"]')?.focus())
}

/**
 * The query form. The query runs only when the button is pressed. On a narrow page it is one line that unfolds.
 */
export const QueryForm = (props: {
  readonly collections: ReadonlyArray<string>
  readonly route: Route
  readonly fields: ReadonlyArray<string>
  readonly running: boolean
  readonly onRun: (query: Pick<Route, "collection" | "filters" | "limit" | "whole" | "at">) => void
  readonly onCancel: () => void
}) => {
  const { route } = props
  const [rows, setRows] = useState(() => rowsOf(route.filters))
  const [collection, setCollection] = useState(route.collection ?? props.collections[0] ?? "")
  const [open, setOpen] = useState(false)
  const limit = useRef<HTMLInputElement>(null)
  const at = useRef<HTMLInputElement>(null)
  const whole = useRef<HTMLInputElement>(null)
  const suggestions = useId()
  const written = JSON.stringify(route.filters)
  const shown = useRef(written)
  useEffect(() => {
    if (shown.current === written) return
    shown.current = written
    setRows(rowsOf(route.filters))
  }, [written])

  useEffect(() => {
    if (route.collection !== undefined) setCollection(route.collection)
  }, [route.collection])

  const change = (key: number, part: Partial<Row>) =>
    setRows((all) => all.map((row) => (row.key === key ? { ...row, ...part } : row)))

  const add = () => {
    const row = empty()
    setRows((all) => [...all, row])
    requestAnimationFrame(() => document.getElementById(`field-${row.key}`)?.focus())
  }

  const remove = (key: number) => {
    setRows((all) => {
      const rest = all.filter((row) => row.key !== key)
      return rest.length === 0 ? [empty()] : rest
    })
    requestAnimationFrame(() => document.getElementById("add-filter")?.focus())
  }

  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (props.running) return
    const filters = filtersOf(rows)
    shown.current = JSON.stringify(filters)
    const ref = at.current?.value.trim() ?? ""
    setOpen(false)
    props.onRun({
      collection,
      filters,
      limit: Math.min(500, Math.max(1, Math.trunc(Number(limit.current?.value)) || 50)),
      whole: whole.current?.checked === true,
      at: ref === "" ? undefined : ref
    })
  }

  const cancel = (
    <button type="button" class="button quiet" onClick={props.onCancel}>
      <Icon name="stop" />
      Cancel
    </button>
  )

  return (
    <form
      class={open ? "query unfolded" : "query"}
      id="query"
      method="post"
      onSubmit={submit}
      aria-label="Query"
    >
      <div class="query-line">
        <button
          type="button"
          class="chips"
          id="query-toggle"
          aria-expanded={open}
          aria-controls="query"
          onClick={() => setOpen(!open)}
        >
          <Icon name="search" />
          <span class="sr-only">Query:</span>
          {chipsOf(route).map((chip) => (
            <bdi class="chip" key={chip}>
              {escapeBidi(chip)}
            </bdi>
          ))}
          <span class="grow" />
          <Icon name={open ? "up" : "down"} />
        </button>
        {props.running && !open ? cancel : null}
      </div>
      <label class="field small query-table">
        <span>Collection</span>
        <select
          id="query-table"
          value={collection}
          onChange={(event) => setCollection(event.currentTarget.value)}
        >
          {(collection === "" || props.collections.includes(collection)
            ? props.collections
            : [collection, ...props.collections]
          ).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <fieldset class="filters">
        <legend>Filters</legend>
        {rows.map((row, i) => (
          <div class="filter" key={row.key}>
            <input
              id={`field-${row.key}`}
              class="filter-path"
              data-first={i === 0}
              aria-label={`Field of filter ${i + 1}`}
              placeholder={i === 0 ? "field, e.g. tags or size.width" : "field"}
              required={row.operator !== "is" || row.value !== ""}
              list={suggestions}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              value={row.path}
              onInput={(event) => change(row.key, { path: event.currentTarget.value })}
            />
            <select
              aria-label={`Comparison of filter ${i + 1}`}
              value={row.operator}
              onChange={(event) => {
                const operator = operators.find((one) => one === event.currentTarget.value)
                if (operator !== undefined) change(row.key, { operator })
              }}
            >
              {operators.map((operator) => (
                <option key={operator} value={operator}>
                  {operatorLabels[operator]}
                </option>
              ))}
            </select>
            {takesValue(row.operator) ? (
              <input
                class="filter-value"
                aria-label={`Value of filter ${i + 1}`}
                placeholder="text, 5, true, &quot;5&quot;"
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                value={row.value}
                onInput={(event) => change(row.key, { value: event.currentTarget.value })}
              />
            ) : (
              <span class="filter-value" />
            )}
            <button
              type="button"
              class="button icon-only quiet"
              aria-label={`Remove filter ${i + 1}`}
              onClick={() => remove(row.key)}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
        <datalist id={suggestions}>
          {props.fields.map((field) => (
            <option key={field} value={field} />
          ))}
        </datalist>
      </fieldset>
      <div class="query-rest">
        <button type="button" class="button quiet" id="add-filter" onClick={add}>
          <Icon name="plus" />
          Add filter
        </button>
        <label class="inline-field">
          <span>At commit or tag</span>
          <input
            ref={at}
            class="at"
            placeholder="now"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            defaultValue={route.at ?? ""}
            key={route.at ?? ""}
          />
        </label>
        <label class="inline-field">
          <span>Limit</span>
          <input
            ref={limit}
            class="limit"
            type="number"
            min={1}
            max={500}
            required
            defaultValue={String(route.limit)}
            key={route.limit}
          />
        </label>
        <label class="inline-check">
          <input ref={whole} type="checkbox" defaultChecked={route.whole} key={String(route.whole)} />
          <span>Whole documents</span>
        </label>
        <span class="grow" />
        {props.running ? cancel : null}
        <RunButton
          type="submit"
          kind="primary"
          icon="play"
          running={props.running}
          disabled={collection === ""}
        >
          Run
        </RunButton>
      </div>
    </form>
  )
}
