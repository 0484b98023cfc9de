import { Effect, Option } from "effect"
import type { LosslessObject } from "../domain/json/LosslessJson.js"
import type { Batch } from "../store/Batch.js"
import { verbatimDocuments } from "../store/browse/VerbatimDocuments.js"
import type { WriteError } from "../store/Collection.js"
import { Store } from "../store/Store.js"
import type { StoreService } from "../store/StoreService.js"
import { dryRunOption, integerOption, messageOption, textOption } from "./CommandOptions.js"
import { jsonOption } from "./CommandOutput.js"
import { previewedDocument } from "./CommitPreview.js"
import { exactDifferences } from "./ExactDifferences.js"

/** The options of every write. */
export const writeOptions = {
  message: messageOption("The commit's message"),
  dryRun: dryRunOption("Show what would be done and write nothing"),
  json: jsonOption
}

/** The options of a write that depends on the stored version. */
export const expectedOptions = {
  expectedRev: integerOption("expected-rev", "Write only if the stored _rev equals this"),
  expectedSha: textOption(
    "expected-sha",
    "Write only if the blob id of the stored file equals this; get --sha prints it"
  )
}

export const conditionOptions = (message: Option.Option<string>, expectedRev: Option.Option<number>) => ({
  message: Option.getOrUndefined(message),
  expectedRev: Option.getOrUndefined(expectedRev)
})

/** A write that succeeds only if the blob id of the document's file is the expected one. */
export const writeIfSha = (
  store: StoreService,
  place: { readonly collection: string; readonly id: string; readonly sha: string },
  message: string,
  write: (batch: Batch) => Effect.Effect<void, WriteError>
) =>
  store.batch({ message }, (batch) =>
    Effect.zipRight(batch.expect(place.collection, place.id, { sha: place.sha }), write(batch))
  )

/** The changes of a write of one document, without making it. Fails as the write would. */
export const previewChanges = <A, E, R>(
  name: string,
  id: string,
  write: (store: StoreService) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const store = yield* Store
    const stored = Option.getOrNull(yield* store.collection(name, verbatimDocuments).get(id))
    const commit = yield* store.preview(write)
    const next = Option.match(commit, {
      onNone: () => stored,
      onSome: (shown) => previewedDocument(store.root, shown, name, id)
    })
    return exactDifferences(withoutMetadata(stored), withoutMetadata(next))
  })

const withoutMetadata = (document: LosslessObject | null): LosslessObject | null => {
  if (document === null) return null
  const { _id, _rev, _created_at, _updated_at, ...rest } = document
  return rest
}
