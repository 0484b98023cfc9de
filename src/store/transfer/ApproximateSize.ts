/** The approximate number of characters of a value's JSON text. Counting stops at `most`, and at `depth` levels. */
export const approximateSize = (value: unknown, most: number, depth = 8): number => {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null || depth === 0) return 8
  if (ArrayBuffer.isView(value)) return value.byteLength
  let sum = 2
  for (const [key, item] of Object.entries(value)) {
    if (sum > most) return sum
    sum += key.length + 4 + approximateSize(item, most - sum, depth - 1)
  }
  return sum
}
