import { parseExactly } from "./ExactJson.js"
import { UnheldNumber } from "./UnheldNumber.js"

/** A CSV cell read as JSON, undefined if it is empty. A cell that JSON would change stays text. */
export const parseCell = (cell: string): unknown => {
  if (cell === "") return undefined
  if (!/^(?:[-\d[{]|true$|false$|null$)/.test(cell)) return cell
  try {
    return containsUnheldNumber(parseExactly(cell)) ? cell : JSON.parse(cell)
  } catch {
    return cell
  }
}

/** A CSV cell read as JSON if the value is written exactly as the cell; otherwise the text. For ids such as `1.10`. */
export const parseCellKeepingSpelling = (cell: string): unknown => {
  const value = parseCell(cell)
  return value === null || (value !== undefined && String(value) !== cell) ? cell : value
}

const containsUnheldNumber = (value: unknown): boolean =>
  value instanceof UnheldNumber ||
  (typeof value === "object" && value !== null && Object.values(value).some(containsUnheldNumber))
