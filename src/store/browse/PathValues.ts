import type { Json, JsonObject } from "../../domain/json/Json.js"

export const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

export const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A dotted path with the offsets of its segments. */
class Path {
  readonly starts: ReadonlyArray<number>

  constructor(readonly text: string) {
    const starts = [0]
    for (let dot = text.indexOf("."); dot >= 0; dot = text.indexOf(".", dot + 1)) starts.push(dot + 1)
    this.starts = starts
  }

  /** The index of the segment after a key, if the key matches the path from segment `at` on; otherwise undefined. */
  after(at: number, key: string): number | undefined {
    const start = this.starts[at]!
    const end = start + key.length
    if (!this.text.startsWith(key, start)) return undefined
    if (end === this.text.length) return this.starts.length
    if (this.text[end] !== ".") return undefined
    let [low, high] = [at, this.starts.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.starts[middle]! <= end) low = middle + 1
      else high = middle
    }
    return low
  }

  segment(at: number): string {
    const next = this.starts[at + 1]
    return this.text.slice(this.starts[at], next === undefined ? undefined : next - 1)
  }
}

/** The key of an object that matches the path. Keys may contain dots: the longest matching key wins. */
const nextKey = (object: JsonObject, path: Path, at: number): readonly [string, number] | undefined => {
  if (at === path.starts.length - 1) {
    const key = path.segment(at)
    return Object.hasOwn(object, key) ? [key, at + 1] : undefined
  }
  // Tries the keys of the object: trying the prefixes of the path would take quadratic time.
  let longest: readonly [string, number] | undefined
  for (const key of Object.keys(object)) {
    if (longest !== undefined && key.length <= longest[0].length) continue
    const next = path.after(at, key)
    if (next !== undefined) longest = [key, next]
  }
  return longest
}

const collectValues = (value: Json, path: Path, at: number, found: Array<Json>): void => {
  if (at === path.starts.length) {
    found.push(value)
    return
  }
  if (isList(value)) {
    const first = path.segment(at)
    if (/^\d+$/.test(first)) {
      const element = value[Number(first)]
      if (element !== undefined) collectValues(element, path, at + 1, found)
      return
    }
    for (const element of value) collectValues(element, path, at, found)
    return
  }
  if (!isObject(value)) return
  const next = nextKey(value, path, at)
  if (next !== undefined) collectValues(value[next[0]]!, path, next[1], found)
}

/** Compiles a path for many documents. */
export const valuesOf = (text: string) => {
  const path = new Path(text)
  return (document: JsonObject): ReadonlyArray<Json> => {
    const found: Array<Json> = []
    collectValues(document, path, 0, found)
    return found
  }
}

/**
 * All values at a dotted path. A number selects an element of a list; a name is searched in all its elements.
 *
 * @since 0.1.0
 * @category queries
 */
export const valuesAt = (document: JsonObject, path: string): ReadonlyArray<Json> => valuesOf(path)(document)
