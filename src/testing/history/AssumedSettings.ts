import type { Json, JsonObject } from "../../domain/json/Json.js"
import { settingsFileName } from "../../domain/settings/Settings.js"
import type { Event } from "../program/ProgramTrace.js"
import * as Model from "../program/StoreModel.js"
import { derivedProblems } from "./DerivedCheck.js"
import type { Snapshot } from "./HistoryReader.js"
import type { IndexHistory } from "./IndexHistory.js"

const settingsOf = (snapshot: Snapshot | undefined) =>
  Model.canonical(snapshot?.derived.get(settingsFileName) ?? null)

/** How long a store writes single files by settings that it has seen, and what clocks may differ by. */
const assumedFor = 61_000

/**
 * The one exception to "index and manifest change in the commit of the document". A single document was written by
 * settings that another client had changed less than a minute before. Index and manifest name another version of the
 * collection, so that no reader believes them, and a second commit completes them before the write is acknowledged.
 */
export const completedLater = (
  events: ReadonlyArray<Event>,
  history: ReadonlyArray<Snapshot>,
  index: number,
  collection: string,
  indexes: IndexHistory
): boolean => {
  const [parent, snapshot] = [history[index - 1], history[index]!]
  const event = events.find(({ token }) => token === snapshot.info.message.trim())
  const isSingle =
    event !== undefined &&
    ["insert", "update", "replace", "upsert", "delete", "edit"].includes(event.operation._tag)
  if (!isSingle || parent === undefined) return false
  const changed = history.findLastIndex(
    (one, at) => at < index && settingsOf(one) !== settingsOf(history[at - 1])
  )
  if (changed <= 0) return false
  const age = Date.parse(snapshot.info.committer.date) - Date.parse(history[changed]!.info.committer.date)
  if (!(age <= assumedFor)) return false
  const believed = [...snapshot.derived].some(
    ([path, file]) =>
      Model.canonical(file) !== Model.canonical(parent.derived.get(path) ?? null) ||
      (isDerivedOf(path, collection) &&
        treeIn(file) !== undefined &&
        treeIn(file) === snapshot.trees.get(collection))
  )
  if (believed) return false
  const end = history.findIndex(({ info }) => info.commit === event.to)
  const until = event.outcome._tag === "done" ? end : history.length - 1
  return (
    event.outcome._tag === "unknown" ||
    history.some(
      (one, at) =>
        at > index && at <= until && derivedProblems(one, collection, indexes.fieldsAt(at)).length === 0
    )
  )
}

const isDerivedOf = (path: string, collection: string): boolean =>
  path.startsWith(`_index/${collection}/`) ||
  path.startsWith(`_manifest/${collection}/`) ||
  path === `_manifest/${collection}.json`

const treeIn = (file: Json): Json | undefined =>
  typeof file === "object" && file !== null && !Array.isArray(file) ? (file as JsonObject)["tree"] : undefined
