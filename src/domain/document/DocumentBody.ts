import * as Steps from "../concurrency/Steps.js"
import type { JsonObject } from "../json/Json.js"
import { setMember } from "../json/JsonCopy.js"

/** The names of the metadata fields. */
export const metadataNames = ["_id", "_rev", "_created_at", "_updated_at"] as const

const isMetadata: ReadonlySet<string> = new Set(metadataNames)

/** A document without its metadata; the document itself if it has none. */
export function* bodyOf(object: JsonObject): Steps.Steps<JsonObject> {
  if (!metadataNames.some((name) => Object.hasOwn(object, name))) return object
  const rest: { [key: string]: unknown } = {}
  let visited = 0
  for (const key of Object.keys(object)) {
    if (!isMetadata.has(key)) setMember(rest, key, object[key])
    if (++visited % Steps.stepSize === 0) yield
  }
  return rest as JsonObject
}
