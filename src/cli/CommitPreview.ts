import { Effect, Either, Option } from "effect"
import { runSync } from "../domain/concurrency/Steps.js"
import { type LosslessObject, parseVerbatimSteps } from "../domain/json/LosslessJson.js"
import { verbatimDocuments } from "../store/browse/VerbatimDocuments.js"
import type { Change, NewCommit } from "../store/remote/GitRemote.js"
import { Store } from "../store/Store.js"
import type { StoreService } from "../store/StoreService.js"
import { print } from "./CommandOutput.js"
import { exactDifferences } from "./ExactDifferences.js"
import { differenceLines } from "./ReadCommands.js"

/** The maximum number of documents whose fields are compared. The other documents are listed by path only. */
const maxCompared = 20

/** Prints the paths of a previewed commit, and the changed fields of the first documents. */
export const printPreview = (json: boolean, shown: Option.Option<NewCommit>) =>
  Effect.gen(function* () {
    if (Option.isNone(shown)) {
      return yield* print(json, { message: null, changes: [] }, () => "Nothing would be written.")
    }
    const store = yield* Store
    const { changes, message } = shown.value
    const lines: Array<string> = []
    let documents = 0
    for (const change of changes) {
      lines.push(`${change._tag === "Remove" ? "remove" : "write "}  ${change.path}`)
      const place = documentPathIn(store.root, change.path)
      if (place === undefined || documents++ >= maxCompared) continue
      const now = Option.getOrNull(yield* currentOf(store, place))
      const found = exactDifferences(withoutTimestamps(now), withoutTimestamps(documentIn(change)))
      if (found.length > 0)
        lines.push(
          ...differenceLines(found)
            .split("\n")
            .map((line) => `        ${line}`)
        )
    }
    yield* print(
      json,
      {
        message,
        changes: changes.map((change) => ({
          path: change.path,
          action: change._tag === "Remove" ? "remove" : "write",
          ...(change._tag === "Put" ? { bytes: change.content.length } : {})
        }))
      },
      () => [`${message} (not committed)`, ...lines].join("\n")
    )
  })

/** The collection and id of a document path. A directory whose name begins with an underscore is not a collection. */
const documentPathIn = (root: string, path: string) => {
  const inside = root === "" ? path : path.slice(root.length + 1)
  const collection = inside.slice(0, inside.indexOf("/"))
  const id = /([^/]+)\.json$/.exec(inside)?.[1]
  return collection === "" || collection.startsWith("_") || id === undefined ? undefined : { collection, id }
}

/** The document after a commit; null if the commit deletes it. */
export const previewedDocument = (
  root: string,
  { changes }: NewCommit,
  collection: string,
  id: string
): LosslessObject | null => {
  const change = changes.find(({ path }) => {
    const place = documentPathIn(root, path)
    return place?.collection === collection && place.id === id
  })
  return change === undefined ? null : documentIn(change)
}

const currentOf = (
  store: StoreService,
  { collection, id }: { readonly collection: string; readonly id: string }
) =>
  Effect.catchTag(
    store.collection(collection, verbatimDocuments).get(id),
    "ValidationError",
    () => Effect.succeedNone
  )

const documentIn = (change: Change): LosslessObject | null =>
  change._tag === "Put" ? Either.getOrElse(runSync(parseVerbatimSteps(change.content)), () => null) : null

const withoutTimestamps = (document: LosslessObject | null): LosslessObject | null => {
  if (document === null) return null
  const { _created_at, _updated_at, ...rest } = document
  return rest
}
