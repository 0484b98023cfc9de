import { type Difference, printPath } from "../../store/browse/Difference.js"
import { truncated } from "./Cell.js"
import { DifferenceValue } from "./DifferenceValue.js"

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
