import * as Steps from "../concurrency/Steps.js"
import { setMember } from "../json/JsonCopy.js"

/** The names of the metadata fields. */
export const metadataNames = ["_id", "_rev", "_created_at", "_updated_at"] as const

const isMetadata: ReadonlySet<string> = new Set(metadataNames)

/** A document without its metadata; the document itself if it has none. */
export function* bodyOf<V>(object: {
  readonly [key: string]: V
}): Steps.Steps<{ readonly [key: string]: V }> {
  if (!metadataNames.some((name) => Object.hasOwn(object, name))) return object
  const rest: { [key: string]: V } = {}
  let visited = 0
  for (const key of Object.keys(object)) {
    if (!isMetadata.has(key)) setMember(rest, key, object[key])
    if (++visited % Steps.stepSize === 0) yield
  }
  return rest
}
