import { runSync } from "../domain/concurrency/Steps.js"
import type { Json, JsonObject } from "../domain/json/Json.js"
import type { LosslessJson, LosslessObject } from "../domain/json/LosslessJson.js"
import { isList, isObject, valueText } from "../domain/merge/JsonIdentity.js"
import { type Difference, differences } from "../store/browse/index.js"

/** One field that differs, with numbers as the files spell them. */
export interface ExactDifference extends Pick<Difference, "path" | "kind"> {
  readonly before?: LosslessJson | undefined
  readonly after?: LosslessJson | undefined
}

/** A value that equals another if their numbers are equal, whatever their spelling and size. */
const comparable = (value: LosslessJson): Json => {
  if (isList(value)) return value.map(comparable)
  if (!isObject(value)) return runSync(valueText(value))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member)]))
}

const valueAt = (document: LosslessObject | null, path: Difference["path"]): LosslessJson =>
  path.reduce<any>((value, step) => value[step], document)

/** Like `differences`, for documents with their numbers as files spell them. */
export const exactDifferences = (
  before: LosslessObject | null,
  after: LosslessObject | null
): ReadonlyArray<ExactDifference> =>
  differences(before && (comparable(before) as JsonObject), after && (comparable(after) as JsonObject)).map(
    ({ kind, path }) => ({
      path,
      kind,
      ...(kind === "added" ? {} : { before: valueAt(before, path) }),
      ...(kind === "removed" ? {} : { after: valueAt(after, path) })
    })
  )
