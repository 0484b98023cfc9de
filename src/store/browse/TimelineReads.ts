import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Steps from "../../domain/concurrency/Steps.js"
import type { StoredDocument } from "../../domain/document/Document.js"
import { NotFoundError } from "../../domain/errors/StoreError.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { parseObjectSteps } from "../../domain/json/JsonText.js"
import { type Layout, parseSettings, plainLayout, settingsFileName } from "../../domain/settings/Settings.js"
import type { DocumentDifference } from "../Branches.js"
import type { ReadError } from "../Collection.js"
import { locate, under } from "../DocumentPath.js"
import { historyEntry } from "../internal/HistoryEntries.js"
import type { Change } from "../remote/GitRemote.js"
import type { BrowseOptions } from "./BrowseOptions.js"
import type { DocumentChange, DocumentChanges, RevertPreview, Timeline } from "./Timeline.js"

/** The number of documents of one page of a comparison. */
const pageLength = 20
const concurrency = 8

const operation = "Browse.timeline"

interface ReadDocument {
  readonly document: StoredDocument | null
  readonly unreadable: boolean
}

/** Reads one side of a difference. A file without a readable document is marked; other errors are failures. */
const readSide = (read: DocumentDifference["before"]): Effect.Effect<ReadDocument, ReadError> =>
  read.pipe(
    Effect.map((found) => ({ document: Option.getOrNull(found), unreadable: false })),
    Effect.catchTag("ValidationError", () => Effect.succeed({ document: null, unreadable: true }))
  )

const readDifference = ({ after, before, collection, id, kind }: DocumentDifference) =>
  Effect.map(
    Effect.all([readSide(before), readSide(after)], { concurrency: 2 }),
    ([was, is]): DocumentChange => ({
      collection,
      id,
      kind,
      before: was.document,
      after: is.document,
      unreadable: was.unreadable || is.unreadable
    })
  )

/** A page of differences. Only the documents of the page are read. */
export const pageOf = (
  differences: Stream.Stream<DocumentDifference, ReadError>,
  offset: number
): Effect.Effect<DocumentChanges, ReadError> =>
  Effect.gen(function* () {
    const all = Array.from(yield* Stream.runCollect(differences))
    const documents = yield* Effect.forEach(all.slice(offset, offset + pageLength), readDifference, {
      concurrency
    })
    return { total: all.length, documents }
  })

/** The document of a file, or a mark that it is not readable. */
interface FileContent {
  readonly document: JsonObject | null
  readonly unreadable: boolean
}

const nothing: FileContent = { document: null, unreadable: false }

const parseContent = (bytes: Uint8Array): FileContent =>
  Either.match(Steps.runSync(parseObjectSteps(bytes)), {
    onLeft: () => ({ document: null, unreadable: true }),
    onRight: (document) => ({ document, unreadable: false })
  })

/** Reads the history of a branch and previews reverts. */
export const makeTimelineReads = ({
  remote,
  store
}: BrowseOptions): Pick<Timeline, "commits" | "changes" | "previewRevert"> => {
  const commitOf = (commit: string) =>
    Effect.gen(function* () {
      const head = yield* remote.resolve(commit)
      const info = Option.isNone(head) ? Option.none() : yield* remote.commitInfo(head.value.commit)
      if (Option.isSome(info)) return info.value
      return yield* new NotFoundError({
        operation,
        message: `the commit ${commit} is not in ${store.repository}`
      })
    })

  /** The differences of the first commit, which adds all its documents. */
  const firstDocuments = (commit: string): Stream.Stream<DocumentDifference, ReadError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const view = yield* store.at(commit)
        return Stream.fromIterable(yield* view.collections).pipe(
          Stream.mapEffect((name) =>
            Effect.map(view.collection(name).list(), (ids) =>
              ids.map(
                (id): DocumentDifference => ({
                  collection: name,
                  id,
                  kind: "added",
                  before: Effect.succeedNone,
                  after: view.collection(name).get(id)
                })
              )
            )
          ),
          Stream.mapConcat((found) => found)
        )
      })
    )

  const layoutNow = Effect.gen(function* () {
    const file = yield* remote.snapshot(store.branch).file(under(store.root, settingsFileName))
    const settings = Option.flatMap(file, ({ content }) => Option.getRight(parseSettings(content)))
    return Option.match(settings, { onNone: (): Layout => plainLayout, onSome: ({ settings }) => settings })
  })

  const contentOf = (change: Change) =>
    change._tag === "Remove"
      ? Effect.succeed(nothing)
      : change._tag === "Put"
        ? Effect.succeed(parseContent(change.content))
        : Effect.gen(function* () {
            const head = yield* remote.head(store.branch)
            if (Option.isNone(head)) return nothing
            const { oid, path } = change
            const found = yield* Stream.runHead(remote.blobs(head.value, [{ path, oid }]))
            return Option.match(found, {
              onNone: () => nothing,
              onSome: ({ content }) => parseContent(content)
            })
          })

  return {
    commits: (limit) =>
      Effect.gen(function* () {
        const head = yield* remote.head(store.branch)
        if (Option.isNone(head)) return []
        const commits = yield* Stream.runCollect(remote.log(head.value, "", { limit }))
        return Array.from(commits, historyEntry)
      }),
    changes: (commit, offset) =>
      Effect.gen(function* () {
        const { commit: sha, parents } = yield* commitOf(commit)
        const [parent] = parents
        return yield* pageOf(
          parent === undefined ? firstDocuments(sha) : store.compare(parent, sha, { against: "first" }),
          offset
        )
      }),
    previewRevert: (commit) =>
      Effect.gen(function* () {
        const none = { documents: [], total: 0, derived: 0 }
        const previewed = yield* store
          .preview((dry) => dry.revert(commit))
          .pipe(
            Effect.map((planned) => ({ planned, problem: null })),
            Effect.catchTag("ConflictError", "ValidationError", "AmbiguousWriteError", ({ message }) =>
              Effect.succeed({ planned: undefined, problem: message })
            )
          )
        if (previewed.planned === undefined) return { ...none, problem: previewed.problem }
        const changes = Option.match(previewed.planned, { onNone: () => [], onSome: (made) => made.changes })
        const layout = yield* layoutNow
        const found = changes.flatMap((change) => {
          const place = locate(store.root, layout, change.path)
          return place === undefined ? [] : [{ change, place }]
        })
        const documents = yield* Effect.forEach(
          found.slice(0, pageLength),
          ({ change, place }) =>
            Effect.gen(function* () {
              const now = yield* readSide(store.collection(place.collection).get(place.id))
              const after = yield* contentOf(change)
              return {
                ...place,
                kind:
                  now.document === null && !now.unreadable
                    ? "added"
                    : change._tag === "Remove"
                      ? "removed"
                      : "changed",
                before: now.document,
                after: after.document,
                unreadable: now.unreadable || after.unreadable
              } satisfies DocumentChange
            }),
          { concurrency }
        )
        return {
          documents,
          total: found.length,
          derived: changes.length - found.length,
          problem: null
        } satisfies RevertPreview
      })
  }
}
