import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { type EditableDocument, maxDocuments } from "../../../store/browse/StagedEdits.js"
import { announce } from "../../components/Announcer.js"
import { plural } from "../../components/Plural.js"
import type { Problem } from "../../components/Problem.js"
import type { DataSourceService } from "../../source/DataSource.js"
import { reserveRate } from "../../source/LongRead.js"

/** A document before an edit; `base` is null if it does not exist. */
export interface FoundDocument {
  readonly id: string
  readonly base: EditableDocument | null
}

/** The requests that reading the documents takes at most: the head for each group, the settings, and the documents. */
export const requestsFor = (documents: number): number => documents + Math.ceil(documents / maxDocuments) + 2

/**
 * Reads the documents that are edited together, in groups. If they are many, it stops when a tenth of the rate limit is
 * left. `onGroup` is called after each group, so that what is made of it is kept if a later one fails.
 */
export const lookUp = (
  source: DataSourceService,
  collection: string,
  ids: ReadonlyArray<string>,
  onGroup: (found: ReadonlyArray<FoundDocument>) => void
): Effect.Effect<void, Problem> =>
  Effect.flatMap(source.edits, ({ documents }) =>
    Effect.forEach(
      Array.chunksOf(ids, maxDocuments),
      (group) =>
        reserveRate(source.rate, requestsFor(ids.length)).pipe(
          Effect.zipRight(documents(collection, group)),
          Effect.map((bases) => onGroup(group.map((id, at) => ({ id, base: bases[at] ?? null }))))
        ),
      { discard: true }
    )
  )

/** Says how many drafts were created if their creation ends early: `onFailure` gets a sentence, an interruption is announced. */
export const reportingCreated =
  (created: () => number, onFailure: (told: string | undefined) => void) =>
  <A>(creating: Effect.Effect<A, Problem>): Effect.Effect<A, Problem> => {
    const told = () => `${plural(created(), "draft")} created`
    return creating.pipe(
      Effect.tapError(() =>
        Effect.sync(() => onFailure(created() === 0 ? undefined : `${told()} before that.`))
      ),
      Effect.onInterrupt(() => Effect.sync(() => announce(`Cancelled. ${told()}.`)))
    )
  }
