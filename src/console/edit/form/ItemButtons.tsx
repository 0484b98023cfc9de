import { Icon } from "../../components/Icon.js"
import { type Field, fieldId } from "./Field.js"
import type { FieldProps } from "./FormActions.js"

/** The buttons that move and remove an item of a list. The focus stays on the button of the moved item. */
export const ItemButtons = ({
  at,
  hands,
  item,
  list
}: Pick<FieldProps, "hands"> & { readonly list: Field; readonly item: Field; readonly at: number }) => {
  const { name, parts, path } = list
  const itemId = (place: number) => fieldId([...path, place])
  const move = (by: -1 | 1) => {
    const next = at + by
    // At an end the button in the same direction is disabled.
    const isUp = next > 0 && (by < 0 || next === parts.length - 1)
    hands.edit({ _tag: "Move", path: item.path, by }, { focus: `${itemId(next)}-${isUp ? "up" : "down"}` })
  }
  const remove = () =>
    hands.edit(
      { _tag: "Remove", path: item.path },
      {
        focus:
          parts.length === 1 ? `${fieldId(path)}-add` : `${itemId(Math.min(at, parts.length - 2))}-remove`
      }
    )
  return (
    <>
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
        onClick={remove}
      >
        <Icon name="close" />
      </button>
    </>
  )
}
