import { useRef } from "preact/hooks"
import type { Json } from "../../../domain/json/Json.js"
import { Icon } from "../../components/Icon.js"
import { type Field, initialValue, newItem } from "./Fields.js"
import type { Path } from "./JsonNodes.js"
import type { FormEdit } from "./TextEdits.js"

/** What fields need of the form: the text, edits, and pending input. */
export interface FormActions {
  readonly text: string
  /** `focus` is the id of the element to focus after the edit. Edits with `isTyped` that follow without a pause are one undo step. */
  readonly edit: (edit: FormEdit, how?: { readonly focus?: string; readonly isTyped?: boolean }) => void
  readonly typedAt: (path: Path) => string | undefined
  readonly setTyped: (path: Path, text: string | undefined) => void
  readonly onJson: (at: number | undefined) => void
}

/** An element id for a path, without white space. */
export const idOf = (path: Path): string =>
  `field-${JSON.stringify(path).replace(/[^\w-]/g, (one) => `.${one.charCodeAt(0).toString(36)}.`)}`

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const kindLabels: Readonly<Record<Field["kind"], string>> = {
  text: "Text",
  long: "Text",
  moment: "Date and time",
  number: "Number",
  integer: "Number",
  boolean: "Value",
  choice: "Value",
  list: "List",
  object: "Object",
  json: "JSON"
}

type State = "value" | "null" | "absent"

const stateOf = ({ node }: Field): State =>
  node === undefined ? "absent" : node.kind === "null" ? "null" : "value"

const shownChoice = (value: Json): string =>
  typeof value === "string" ? (value === "" ? "empty text" : value) : JSON.stringify(value)

interface Common {
  readonly field: Field
  readonly hands: FormActions
}

/** Chooses between value, null and absent. Not shown if only one is possible. */
const StateChoice = ({
  describedBy,
  field,
  hands
}: Common & { readonly describedBy?: string | undefined }) => {
  const state = stateOf(field)
  const { kind, name, nullable, optional, path } = field
  const isItem = typeof path.at(-1) === "number"
  const states: ReadonlyArray<readonly [State, string]> = [
    // A field of unknown type is edited as JSON.
    ...(kind === "json" && state !== "value" ? [] : [["value", kindLabels[kind]] as const]),
    ...(nullable || state === "null" ? [["null", "null"] as const] : []),
    ...(!isItem && (optional || state === "absent") ? [["absent", "Absent"] as const] : [])
  ]
  if (states.length === 1) return null
  return (
    <select
      class="field-state"
      aria-label={`Type of ${name}`}
      aria-describedby={describedBy}
      value={state}
      onChange={(event) => {
        const next = event.currentTarget.value as State
        hands.setTyped(path, undefined)
        if (next === "absent") hands.edit({ _tag: "Remove", path })
        else hands.edit({ _tag: "Set", path, raw: next === "null" ? "null" : initialValue(field) })
      }}
    >
      {states.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** A select of the allowed values, with null and absent. */
const Choice = ({ field, hands, ...attributes }: Common & { readonly [name: string]: unknown }) => {
  const { choices, kind, node, nullable, optional, path } = field
  const state = stateOf(field)
  const all: ReadonlyArray<Json> = kind === "boolean" ? [true, false] : choices
  const value = node !== undefined && "value" in node ? node.value : undefined
  const at = state === "value" ? all.indexOf(value as Json) : -1
  const isItem = typeof path.at(-1) === "number"
  const shown = state === "value" ? (at < 0 ? "other" : `${at}`) : state
  return (
    <select
      {...attributes}
      value={shown}
      onChange={(event) => {
        const chosen = event.currentTarget.value
        if (chosen === "absent") hands.edit({ _tag: "Remove", path })
        else if (chosen !== "other")
          hands.edit({
            _tag: "Set",
            path,
            raw: chosen === "null" ? "null" : JSON.stringify(all[Number(chosen)])
          })
      }}
    >
      {shown === "other" ? <option value="other">{shownChoice(value ?? null)}</option> : null}
      {all.map((one, index) => (
        <option key={index} value={`${index}`}>
          {shownChoice(one)}
        </option>
      ))}
      {nullable || state === "null" ? <option value="null">null</option> : null}
      {!isItem && (optional || state === "absent") ? <option value="absent">Absent</option> : null}
    </select>
  )
}

/** A text keeps its element when it becomes long. */
const controlKey = ({ kind }: Field): string => (kind === "long" ? "text" : kind)

/** The input of a scalar value. */
const Control = ({ field, hands, ...attributes }: Common & { readonly [name: string]: unknown }) => {
  const { kind, node, path } = field
  // Replacing the element while typing would lose the focus.
  const wasLong = useRef(kind === "long")
  const state = stateOf(field)
  const placeholder = state === "value" ? undefined : state
  if (kind === "boolean" || kind === "choice") return <Choice field={field} hands={hands} {...attributes} />
  if (kind === "number" || kind === "integer") {
    const raw = state === "value" ? hands.text.slice(node!.from, node!.to) : ""
    return (
      <input
        {...attributes}
        dir="ltr"
        inputMode={kind === "integer" ? "numeric" : "decimal"}
        autocomplete="off"
        placeholder={placeholder}
        value={hands.typedAt(path) ?? raw}
        onInput={(event) => {
          const given = event.currentTarget.value
          const isNumber = number.test(given.trim())
          hands.setTyped(path, isNumber ? undefined : given)
          if (isNumber && given.trim() !== raw)
            hands.edit({ _tag: "Set", path, raw: given.trim() }, { isTyped: true })
        }}
      />
    )
  }
  const common = {
    ...attributes,
    dir: "auto" as const,
    autocomplete: "off",
    placeholder,
    value: state === "value" ? (node as { readonly value: string }).value : "",
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      hands.edit({ _tag: "Type", path, value: event.currentTarget.value }, { isTyped: true })
  }
  return wasLong.current ? (
    <textarea rows={4} {...common} />
  ) : (
    <input {...common} spellcheck={kind === "text"} />
  )
}

const problemIn = (field: Field, { typedAt }: FormActions): string | undefined => {
  const typed = typedAt(field.path)
  if (typed === undefined) return field.problem
  if (typed.trim() !== "") return `${typed.trim()} is not a number. The document keeps its value.`
  return stateOf(field) === "value"
    ? "Enter a number, or select another type next to the field."
    : field.problem
}

/** The help and the problem of a field, and the attributes that refer to them. */
const fieldNotes = (field: Field, hands: FormActions) => {
  const id = idOf(field.path)
  const problem = problemIn(field, hands)
  const described = [field.help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(" ")
  return {
    attributes: {
      id,
      "aria-describedby": described === "" ? undefined : described,
      "aria-required": field.optional ? undefined : ("true" as const),
      "aria-invalid": problem === undefined ? undefined : ("true" as const)
    },
    notes: (
      <>
        {field.help ? (
          <p class="help" id={`${id}-help`}>
            {field.help}
          </p>
        ) : null}
        {problem === undefined ? null : (
          <p class="wrong" id={`${id}-problem`}>
            {problem}
          </p>
        )}
      </>
    )
  }
}

const Items = ({ field, hands }: Common) => {
  const { name, parts, path } = field
  const id = idOf(path)
  const itemId = (at: number) => idOf([...path, at])
  const add = () => hands.edit({ _tag: "Add", path, raw: newItem(field) }, { focus: itemId(parts.length) })
  return (
    <>
      <ol class="form-items">
        {parts.map((item, at) => {
          const { attributes, notes } = fieldNotes(item, hands)
          const move = (by: -1 | 1) => {
            const next = at + by
            // At an end the button in the same direction is disabled.
            const isUp = next > 0 && (by < 0 || next === parts.length - 1)
            hands.edit(
              { _tag: "Move", path: item.path, by },
              { focus: `${itemId(next)}-${isUp ? "up" : "down"}` }
            )
          }
          return (
            <li key={at}>
              <div class="form-item">
                {item.kind === "json" ? (
                  <code class="form-raw">{hands.text.slice(item.node!.from, item.node!.to)}</code>
                ) : (
                  <Control
                    key={controlKey(item)}
                    field={item}
                    hands={hands}
                    {...attributes}
                    aria-label={item.name}
                  />
                )}
                <button
                  type="button"
                  class="button small quiet icon-only"
                  id={`${itemId(at)}-up`}
                  aria-label={`Move item ${at + 1} of ${name} up`}
                  disabled={at === 0}
                  onClick={() => move(-1)}
                >
                  <Icon name="up" />
                </button>
                <button
                  type="button"
                  class="button small quiet icon-only"
                  id={`${itemId(at)}-down`}
                  aria-label={`Move item ${at + 1} of ${name} down`}
                  disabled={at === parts.length - 1}
                  onClick={() => move(1)}
                >
                  <Icon name="down" />
                </button>
                <button
                  type="button"
                  class="button small quiet icon-only"
                  id={`${itemId(at)}-remove`}
                  aria-label={`Remove item ${at + 1} of ${name}`}
                  onClick={() =>
                    hands.edit(
                      { _tag: "Remove", path: item.path },
                      {
                        focus:
                          parts.length === 1
                            ? `${id}-add`
                            : `${itemId(Math.min(at, parts.length - 2))}-remove`
                      }
                    )
                  }
                >
                  <Icon name="close" />
                </button>
              </div>
              {notes}
            </li>
          )
        })}
      </ol>
      <button
        type="button"
        class="button small plain"
        id={`${id}-add`}
        aria-label={`Add to ${name}`}
        onClick={add}
      >
        <Icon name="plus" />
        Add
      </button>
    </>
  )
}

/** A field of a form with its nested fields. */
export const FieldView = ({ field, hands }: Common) => {
  const { kind, name, node, parts } = field
  const { attributes, notes } = fieldNotes(field, hands)
  const { id } = attributes
  const state = stateOf(field)
  const label = (
    <>
      <bdi>{name}</bdi>
      {field.optional ? null : <span class="needed"> required</span>}
    </>
  )
  if ((kind === "object" || kind === "list") && state === "value") {
    return (
      <fieldset class="form-group" id={id} aria-describedby={attributes["aria-describedby"]}>
        <legend>{label}</legend>
        <StateChoice field={field} hands={hands} />
        {notes}
        {kind === "list" ? (
          <Items field={field} hands={hands} />
        ) : parts.length === 0 ? (
          <p class="help">No fields.</p>
        ) : (
          parts.map((part) => <FieldView key={idOf(part.path)} field={part} hands={hands} />)
        )}
      </fieldset>
    )
  }
  const isJson = kind === "json" || kind === "object" || kind === "list"
  return (
    <div class="form-field">
      {isJson ? <span class="form-label">{label}</span> : <label for={id}>{label}</label>}
      <div class="form-control">
        {isJson ? (
          <>
            <code class="form-raw" dir="ltr">
              {state === "value" ? hands.text.slice(node!.from, Math.min(node!.to, node!.from + 200)) : state}
            </code>
            {kind !== "json" ? null : (
              <button
                type="button"
                class="button small plain"
                id={id}
                aria-describedby={attributes["aria-describedby"]}
                aria-label={`Edit ${name} as JSON`}
                onClick={() => hands.onJson(node?.from)}
              >
                Edit as JSON
              </button>
            )}
          </>
        ) : (
          <Control key={controlKey(field)} field={field} hands={hands} {...attributes} />
        )}
        {kind === "boolean" || kind === "choice" ? null : (
          <StateChoice
            field={field}
            hands={hands}
            describedBy={kind === "list" || kind === "object" ? attributes["aria-describedby"] : undefined}
          />
        )}
      </div>
      {notes}
    </div>
  )
}
