import { plural } from "../../components/Plural.js"
import { type Field, fieldId } from "./Field.js"
import type { Path } from "./JsonNodes.js"

/** More invalid fields than this are only counted. */
const maxShown = 5

/** A path in words, such as "parts, item 2, width". */
const pathWords = (path: Path): string =>
  path.map((step) => (typeof step === "number" ? `item ${step + 1}` : step)).join(", ")

/** The number of invalid fields as a sentence. */
export const problemCount = (count: number): string =>
  `${plural(count, "field")} ${count === 1 ? "does" : "do"} not fit what is expected.`

/** The number of invalid fields, with a button to each of the first ones. */
export const FormProblems = (props: {
  readonly fields: ReadonlyArray<Field>
  readonly onField: (field: Field) => void
}) =>
  props.fields.length === 0 ? null : (
    <div class="wrong form-sum">
      {problemCount(props.fields.length)}
      <ul class="form-problems">
        {props.fields.slice(0, maxShown).map((field) => (
          <li key={fieldId(field.path)}>
            <button type="button" class="button small quiet" onClick={() => props.onField(field)}>
              <bdi>{pathWords(field.path)}</bdi>
            </button>{" "}
            {field.problem}
          </li>
        ))}
      </ul>
    </div>
  )
