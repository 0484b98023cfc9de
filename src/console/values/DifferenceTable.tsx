import type { Json, JsonObject } from "../../domain/json/Json.js"
import { type Difference, printPath } from "../../store/browse/Difference.js"
import { cellText, truncated } from "./Cell.js"
import { dateText } from "./DateText.js"

const setByWrites = new Set(["_rev", "_created_at", "_updated_at"])

/** A document without what every write sets, for the preview of a write. */
export const contentOf = (document: JsonObject | null): JsonObject | null =>
  document === null
    ? null
    : Object.fromEntries(Object.entries(document).filter(([name]) => !setByWrites.has(name)))

/** A value in a table of differences. In a narrow column a timestamp is broken only between its date and its time. */
export const DifferenceValue = ({ value }: { readonly value: Json }) => {
  const text = truncated(cellText(value))
  if (dateText(value) === undefined) return <>{text}</>
  const time = text.indexOf("T") + 1
  return (
    <>
      <span class="unbroken">{text.slice(0, time)}</span>
      <span class="unbroken">{text.slice(time)}</span>
    </>
  )
}

/** The differing fields as a table. */
export const DifferenceTable = (props: {
  readonly caption: string
  readonly differences: ReadonlyArray<Difference>
  readonly before: string
  readonly after: string
}) =>
  props.differences.length === 0 ? (
    <p class="quiet-text">No differences.</p>
  ) : (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="diff-scroll" tabIndex={0} aria-label={props.caption}>
      <table class="diff">
        <caption class="sr-only">{props.caption}</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{props.before}</th>
            <th scope="col">{props.after}</th>
          </tr>
        </thead>
        <tbody>
          {props.differences.slice(0, 500).map(({ after, before, kind, path }) => (
            <tr key={JSON.stringify(path)} class={`is-${kind}`}>
              <th scope="row">
                <bdi>{truncated(printPath(path))}</bdi> <span class={`badge ${kind}`}>{kind}</span>
              </th>
              <td class="before">
                {before === undefined ? (
                  <span class="nothing">nothing</span>
                ) : (
                  <del>
                    <DifferenceValue value={before} />
                  </del>
                )}
              </td>
              <td class="after">
                {after === undefined ? (
                  <span class="nothing">nothing</span>
                ) : (
                  <ins>
                    <DifferenceValue value={after} />
                  </ins>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {props.differences.length > 500 ? <p>…and {props.differences.length - 500} more fields.</p> : null}
    </section>
  )
