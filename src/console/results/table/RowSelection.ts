import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { JsonObject } from "../../../domain/json/Json.js"
import { cellText, cellValue } from "../../values/Cell.js"

/** The selected rows. */
export interface RowSelection {
  /** The ids of all rows in order. */
  readonly allIds: ReadonlyArray<string>
  /** The selected ids in the order of the rows. */
  readonly ids: ReadonlyArray<string>
  readonly has: (id: string) => boolean
  /** Selects or deselects a row; with `through`, all rows since the last toggled one. */
  readonly toggle: (id: string, through: boolean) => void
  /** Selects all loaded rows, or none. */
  readonly selectAll: (all: boolean) => void
}

/** The selection among the rows. Another key `of` clears it. */
export const useRowSelection = (rows: ReadonlyArray<JsonObject>, of: string): RowSelection => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const last = useRef<string | undefined>(undefined)
  useEffect(() => {
    setChosen(new Set())
    last.current = undefined
  }, [of])
  const all = useMemo(() => rows.map((row) => cellText(cellValue(row, "_id"))), [rows])
  const press = useCallback(
    (id: string, through: boolean) => {
      const [from, to] = [all.indexOf(through ? (last.current ?? id) : id), all.indexOf(id)]
      last.current = id
      setChosen((before) => {
        const next = new Set(before)
        const pressed = from < 0 ? [id] : all.slice(Math.min(from, to), Math.max(from, to) + 1)
        for (const one of pressed) {
          if (before.has(id)) next.delete(one)
          else next.add(one)
        }
        return next
      })
    },
    [all]
  )
  return {
    allIds: all,
    ids: useMemo(() => all.filter((id) => chosen.has(id)), [all, chosen]),
    has: (id) => chosen.has(id),
    toggle: press,
    selectAll: (every) => setChosen(new Set(every ? all : []))
  }
}
