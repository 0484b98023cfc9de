import type { Json, JsonObject } from "../json/Json.js"
import { indexable } from "../json/LosslessJson.js"

type Mutable = { [key: string]: Json }

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

const setOwn = (target: Mutable, key: string, value: Json): void => {
  Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true })
}

/** Copies the value at a path, in objects that contain nothing else. */
const pick = (document: JsonObject, names: ReadonlyArray<string>, into: Mutable): void => {
  let value: Json | undefined = document
  for (const name of names) value = isObject(value) ? own(value, name) : undefined
  const found = indexable(value) as Json | undefined
  if (found === undefined) return
  let target = into
  for (const name of names.slice(0, -1)) {
    if (!Object.hasOwn(target, name)) setOwn(target, name, {})
    target = target[name] as Mutable
  }
  setOwn(target, names.at(-1)!, found)
}

/** A function that selects fields of a document and its `_id`. Nested fields are in objects that contain nothing else. */
export const selectionOf = (paths: ReadonlyArray<string>) => {
  const wanted = paths.filter((path) => path !== "_id")
  const isWithin = (path: string) => wanted.some((other) => path.startsWith(`${other}.`))
  return (document: JsonObject, id: string): JsonObject => {
    const selected: Mutable = { _id: id }
    for (const path of wanted) {
      if (Object.hasOwn(document, path)) pick(document, [path], selected)
      else if (!isWithin(path)) pick(document, path.split("."), selected)
    }
    return selected
  }
}
