import type { Path } from "./JsonNodes.js"
import type { FormEdit } from "./TextEdits.js"

/** Input that is not a valid value, by the field's path as JSON. */
export type PendingInput = ReadonlyMap<string, string>

/** The path of a value after an edit; undefined if the value was removed. */
const after = (path: Path, edit: FormEdit): Path | undefined => {
  if (edit._tag === "Add" || edit._tag === "Type") return path
  const depth = edit.path.length - 1
  const isNear = path.length > depth && edit.path.every((step, at) => at === depth || step === path[at])
  if (!isNear) return path
  const [own, edited] = [path[depth], edit.path[depth]]
  const moved = (to: number): Path => [...path.slice(0, depth), to, ...path.slice(depth + 1)]
  if (edit._tag !== "Move" && own === edited) return undefined
  if (typeof own !== "number" || typeof edited !== "number") return path
  if (edit._tag === "Remove") return own > edited ? moved(own - 1) : path
  if (edit._tag === "Set") return path
  return own === edited ? moved(own + edit.by) : own === edited + edit.by ? moved(edited) : path
}

/** Moves pending input with its list item when items are removed or moved. */
export const pendingAfterEdit = (pending: PendingInput, edit: FormEdit): PendingInput =>
  new Map(
    [...pending].flatMap(([key, typed]) => {
      const moved = after(JSON.parse(key) as Path, edit)
      return moved === undefined ? [] : [[JSON.stringify(moved), typed] as const]
    })
  )
