import { parseExactly } from "./ExactJson.js"
import { UnheldNumber } from "./UnheldNumber.js"

/** What a cell of a CSV text is as JSON; undefined where it is empty. What JSON would lose stays text. */
export const jsonCell = (cell: string): unknown => {
  if (cell === "") return undefined
  if (!/^(?:[-\d[{]|true$|false$|null$)/.test(cell)) return cell
  try {
    return holdsUnheld(parseExactly(cell)) ? cell : JSON.parse(cell)
  } catch {
    return cell
  }
}

/** The same, unless it would be written another way: an id is what its cell says. */
export const spelledCell = (cell: string): unknown => {
  const value = jsonCell(cell)
  return value === null || (value !== undefined && String(value) !== cell) ? cell : value
}

const holdsUnheld = (value: unknown): boolean =>
  value instanceof UnheldNumber ||
  (typeof value === "object" && value !== null && Object.values(value).some(holdsUnheld))
