/** About as many characters as a value's text has, counted only as far as `most` and not into its depths. */
export const weight = (value: unknown, most: number, depth = 8): number => {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null || depth === 0) return 8
  if (ArrayBuffer.isView(value)) return value.byteLength
  let sum = 2
  for (const [key, item] of Object.entries(value)) {
    if (sum > most) return sum
    sum += key.length + 4 + weight(item, most - sum, depth - 1)
  }
  return sum
}
