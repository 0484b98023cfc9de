import { plural } from "../../components/Plural.js"
import { type Field, fieldId } from "./Field.js"
import { focusField } from "./FieldFocus.js"
import type { Path } from "./JsonNodes.js"

/** More invalid fields than this are only counted. */
const maxShown = 5

/** A path in words, such as "parts, item 2, width". */
const pathWords = (path: Path): string =>
  path.map((step) => (typeof step === "number" ? `item ${step + 1}` : step)).join(", ")

/** The number of invalid fields, with a button to each of the first ones. */
export const FormProblems = ({ fields }: { readonly fields: ReadonlyArray<Field> }) =>
  fields.length === 0 ? null : (
    <div class="wrong form-sum">
      {plural(fields.length, "field")} {fields.length === 1 ? "does" : "do"} not fit what is expected.
      <ul class="form-problems">
        {fields.slice(0, maxShown).map(({ path, problem }) => (
          <li key={fieldId(path)}>
            <button type="button" class="button small quiet" onClick={() => focusField(fieldId(path))}>
              <bdi>{pathWords(path)}</bdi>
            </button>{" "}
            {problem}
          </li>
        ))}
      </ul>
    </div>
  )
