import { useState } from "preact/hooks"
import * as Settings from "../../page/Settings.js"

/** The height of a row in pixels. */
export const rowHeights = { comfortable: 38, compact: 28 } as const

/** The density of all tables, stored in the browser. */
export const useDensity = (): readonly [Settings.Density, (next: Settings.Density) => void] => {
  const [density, setDensity] = useState(() => Settings.load().density)
  return [
    density,
    (next) => {
      Settings.save({ density: next })
      setDensity(next)
    }
  ]
}
