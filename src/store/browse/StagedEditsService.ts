import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Steps from "../../domain/concurrency/Steps.js"
import { type ReadError, ValidationError, type WriteError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { encodeSliced } from "../../domain/json/CanonicalJson.js"
import { type LosslessObject, parseVerbatimSteps } from "../../domain/json/LosslessJson.js"
import type { Batch } from "../Batch.js"
import type { Version } from "../Collection.js"
import { under } from "../DocumentPath.js"
import { isInTransaction } from "../internal/transaction/CurrentTransaction.js"
import { type GitRemoteService, takesRequests } from "../remote/GitRemote.js"
import type { StoreService } from "../StoreService.js"
import type { StoreView } from "../View.js"
import { withEditTrailer } from "./EditTrailer.js"
import { mostCommits, type PlannedEdit, planEdit, queueEdit } from "./StagedEditPlan.js"
import {
  type EditableDocument,
  maxDocuments,
  maxEdits,
  type ReviewedEdit,
  type StagedEdit,
  type StagedEdits
} from "./StagedEdits.js"
import { writingSession } from "./WritingSession.js"

/** The number of times that a publication is planned again after a conflict. */
const attempts = 5

/** The number of documents that are read concurrently. */
const concurrency = 8

const decoder = new TextDecoder()

/** The JSON text of a document without metadata. */
const textOf = ({ _created_at, _id, _rev, _updated_at, ...body }: LosslessObject): Effect.Effect<string> =>
  Effect.map(encodeSliced(body), (bytes) => decoder.decode(Either.getOrElse(bytes, () => new Uint8Array())))

const nameOf = ({ collection, id }: StagedEdit) => `${collection}/${id}`

const problemOf = (edits: ReadonlyArray<StagedEdit>): string | undefined =>
  edits.length > maxEdits
    ? `at most ${maxEdits} edits are published together`
    : new Set(edits.map(nameOf)).size < edits.length
      ? "one edit for each document"
      : undefined

const isBlocking = ({ review: { state } }: PlannedEdit) => state === "conflict" || state === "invalid"

const queue = (batch: Batch, planned: ReadonlyArray<PlannedEdit>) =>
  Effect.forEach(planned, (one) => queueEdit(batch, one), { discard: true })

type QueueAll = (batch: Batch) => ReturnType<typeof queue>

interface Submission {
  readonly operation: string
  readonly edits: ReadonlyArray<StagedEdit>
  readonly message: string
}

interface SubmitResult<A> {
  /** None if there was nothing to write, or if an edit is invalid or in conflict. */
  readonly written: Option.Option<A>
  readonly edits: ReadonlyArray<ReviewedEdit>
}

/** Makes the staged edits of a store. */
export const makeStagedEdits = (
  store: StoreService,
  remote: GitRemoteService,
  readOnly: boolean
): StagedEdits => {
  let last: { readonly commit: string | undefined; readonly view: StoreView } | undefined

  /**
   * The commit that the store reads. If reads take requests, it is one view while the commit does not change, which keeps
   * the documents that it has read.
   */
  const currentView: Effect.Effect<StoreView, ReadError> = Effect.gen(function* () {
    const view = yield* store.snapshot
    // A transaction has to record what it reads.
    if (!takesRequests(remote) || (yield* isInTransaction)) return view
    const commit = Option.getOrUndefined(yield* view.commitSha)
    if (last === undefined || last.commit !== commit) last = { commit, view }
    return last.view
  })

  /** Reads the file of a document by the id of its blob. */
  const fileOf = (collection: string, id: string, { commit, sha }: Version) =>
    remote
      .blobs(commit as Oid, [{ path: under(store.root, collection, `${id}.json`), oid: sha as Oid }])
      .pipe(Stream.runHead, Effect.map(Option.map(({ content }) => content)))

  /** The text of a document with its numbers as the file spells them. */
  const spelledText = (collection: string, id: string, version: Version) =>
    fileOf(collection, id, version).pipe(
      Effect.flatMap(Effect.transposeMapOption((content) => Steps.run(() => parseVerbatimSteps(content)))),
      Effect.map(Option.flatMap(Either.getRight)),
      Effect.map(Option.getOrElse((): LosslessObject => version.document)),
      Effect.flatMap(textOf)
    )

  const lastMessages = Effect.gen(function* () {
    const head = yield* remote.head(store.branch)
    if (Option.isNone(head)) return []
    const commits = yield* Stream.runCollect(remote.log(head.value, "", { limit: mostCommits }))
    return Array.from(commits, ({ message }) => message)
  })

  const planOf = (operation: string, edits: ReadonlyArray<StagedEdit>) =>
    Effect.gen(function* () {
      const problem = problemOf(edits)
      if (problem !== undefined) return yield* new ValidationError({ operation, message: problem })
      const planning = {
        store,
        current: yield* currentView,
        fileOf,
        messages: yield* Effect.cached(lastMessages)
      }
      return yield* Effect.forEach(edits, (edit) => planEdit(planning, edit), { concurrency })
    })

  /**
   * Plans edits and writes them. If one is invalid or in conflict, none is written. After a lost race they are planned
   * again. A trailer is added to `message`.
   */
  const submit = <A>(
    { edits, message, operation }: Submission,
    write: (message: string, queueAll: QueueAll) => Effect.Effect<A, WriteError>,
    left = attempts
  ): Effect.Effect<SubmitResult<A>, WriteError> =>
    Effect.gen(function* () {
      const planned = yield* planOf(operation, edits)
      const reviews = planned.map(({ review }) => review)
      if (planned.some(isBlocking) || planned.every(({ basedOn: onto }) => onto === undefined)) {
        return { written: Option.none(), edits: reviews }
      }
      const named = edits.filter((_, at) => planned[at]!.basedOn !== undefined)
      const written = yield* write(withEditTrailer(message, named), (batch) => queue(batch, planned))
      return { written: Option.some(written), edits: reviews }
    }).pipe(
      Effect.catchTag("ConflictError", (error) =>
        error.reason === undefined && left > 1
          ? submit({ edits, message, operation }, write, left - 1)
          : error
      )
    )

  return {
    documents: Effect.fn("Browse.editable")(function* (collection, ids) {
      if (ids.length > maxDocuments) {
        const message = `at most ${maxDocuments} documents are read together`
        return yield* new ValidationError({ operation: "Browse.editable", message })
      }
      const { version } = (yield* currentView).collection(collection)
      const editable = (id: string): Effect.Effect<Option.Option<EditableDocument>, ReadError> =>
        Effect.flatMap(
          version(id),
          Effect.transposeMapOption((found) =>
            Effect.map(spelledText(collection, id, found), (text) => ({
              text,
              sha: found.sha,
              commit: found.commit
            }))
          )
        )
      return yield* Effect.forEach(ids, editable, { concurrency })
    }),
    schema: Effect.fn("Browse.schema")(function* (collection) {
      return yield* store.collection(collection).jsonSchema
    }),
    review: Effect.fn("Browse.review")(function* (edits) {
      const planned = yield* planOf("Browse.review", edits)
      const written = planned.filter((one) => !isBlocking(one))
      const shown = yield* Effect.either(
        store.preview((dry) => dry.batch({ message: "review" }, (batch) => queue(batch, written)))
      )
      const reviews = planned.map(({ review }) => review)
      if (Either.isRight(shown)) {
        const changes = Option.isSome(shown.right) ? shown.right.value.changes : []
        const files = changes.map(({ _tag, path }) => ({ path, removed: _tag === "Remove" }))
        return { edits: reviews, files: planned.some(isBlocking) ? [] : files }
      }
      const error = shown.left
      return error._tag === "ValidationError" || error._tag === "ConflictError"
        ? { edits: reviews, files: [], problem: error.message }
        : yield* error
    }),
    publish: Effect.fn("Browse.publish")(function* (edits, message) {
      const operation = "Browse.publish"
      const { edits: reviews, written } = yield* writingSession(
        readOnly,
        operation,
        submit({ edits, message, operation }, (marked, queueAll) =>
          Effect.map(store.batch({ message: marked }, queueAll), ({ commitSha }) => commitSha)
        )
      )
      return { commit: Option.getOrNull(Option.flatten(written)), edits: reviews }
    }),
    propose: Effect.fn("Browse.propose")(function* (edits, { body, title }) {
      const operation = "Browse.propose"
      const { edits: reviews, written } = yield* writingSession(
        readOnly,
        operation,
        submit({ edits, message: title, operation }, (message, queueAll) =>
          Effect.map(
            store.propose({ title, body }, (draft) => draft.batch({ message }, queueAll)),
            ({ proposal }) => proposal
          )
        )
      )
      return { proposal: Option.getOrNull(written), edits: reviews }
    })
  }
}
