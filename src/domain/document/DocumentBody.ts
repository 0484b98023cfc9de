import * as Steps from "../concurrency/Steps.js"
import type { JsonObject } from "../json/Json.js"
import { setMember } from "../json/JsonCopy.js"

/** The members that the store writes on a document. */
export const metadataNames = ["_id", "_rev", "_created_at", "_updated_at"] as const

const isMetadata: ReadonlySet<string> = new Set(metadataNames)

/** A document without what the store writes on it; itself where it has nothing of that. */
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
