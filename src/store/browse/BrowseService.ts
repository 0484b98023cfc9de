import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { NotFoundError, ValidationError } from "../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../domain/identifiers/CollectionName.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { settingsFileName } from "../../domain/settings/Settings.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"
import type { ReadError, WriteError } from "../Collection.js"
import { historyEntry } from "../internal/HistoryEntries.js"
import type { Tree } from "../remote/GitRemote.js"
import type { StoreView } from "../View.js"
import type { Browse } from "./BrowseOperations.js"
import type { BrowseOptions } from "./BrowseOptions.js"
import { isCount, maxLimit, type Query, queryProblem } from "./BrowseQuery.js"
import type { ManifestFieldsReader } from "./ManifestFields.js"
import type { ManifestReader } from "./ManifestReader.js"
import type { StagedEdits } from "./StagedEdits.js"

/** The number of commits that are searched for the shown commit. */
const maxNewerCommits = 100

// These modules are loaded on the first use, to keep the first page of the console small.
const manifestQuery = lazyModule(() => import("./ManifestQuery.js"))
const documents = lazyModule(() => import("./DocumentQuery.js"))
const editing = lazyModule(() => import("./StagedEditsService.js"))
const timelines = lazyModule(() => import("./TimelineService.js"))
const manifestReader = lazyModule(() => import("./ManifestReader.js"))
const manifestFields = lazyModule(() => import("./ManifestFields.js"))
const dataRoots = lazyModule(() => import("./DataRoots.js"))
const writes = lazyModule(() => import("./BrowseWrites.js"))

const invalid = (message: string) => new ValidationError({ operation: "Browse.query", message })

/** The milliseconds for which the listing of the root directory is reused, so that a query after it sends no request. */
const listingMaxAge = 15_000

/** Checks that the repository and the branch exist and whether they are writable, and opens them. */
export const openBrowse = (options: BrowseOptions): Effect.Effect<Browse, ReadError> =>
  Effect.gen(function* () {
    const { remote, store } = options
    const operation = "Browse.open"
    const { branch, defaultBranch, hint, repository, write } = yield* remote.probe(store.branch, {
      rights: true
    })
    if (repository === "absent") {
      return yield* new NotFoundError({
        operation,
        message: `the repository ${store.repository} was not found`,
        hint: hint ?? "Check owner/name, and the rights of the token."
      })
    }
    if (repository === "present" && !branch) {
      return yield* new NotFoundError({
        operation,
        message: `${store.repository} has no branch ${store.branch}`,
        hint: Option.match(defaultBranch, {
          onNone: () => "Check the spelling of the branch.",
          onSome: (name) => `Its default branch is ${name}.`
        })
      })
    }
    return makeBrowse({ ...options, readOnly: options.readOnly || (Option.isSome(write) && !write.value) })
  })

/** The entries of the root directory that queries need. */
interface RootListing {
  /** The collections and their trees. */
  readonly trees: ReadonlyMap<string, Oid>
  /** The blob of the settings. */
  readonly settings: Oid | undefined
  readonly manifests: boolean
}

const rootOf = (entries: Tree["entries"]): RootListing => ({
  trees: new Map(
    entries
      .filter(({ kind, path }) => kind === "tree" && collectionNameProblem(path) === undefined)
      .map(({ oid, path }) => [path, oid])
  ),
  settings: entries.find(({ path }) => path === settingsFileName)?.oid,
  manifests: entries.some(({ path }) => path === "_manifest")
})

const none = Effect.succeed<ReadonlyArray<string>>([])

/** Opens the repository of a store without checks. */
export const makeBrowse = (options: BrowseOptions): Browse => {
  const { remote, store } = options
  const under = (path: string) => (store.root === "" ? path : `${store.root}/${path}`)
  let listed: { readonly at: number; readonly root: RootListing } | undefined

  const viewAt = (at: string | undefined): Effect.Effect<StoreView, ReadError> =>
    at === undefined ? Effect.succeed(store) : store.at(at)

  const headAt = (at: string | undefined) =>
    at === undefined ? remote.head(store.branch) : remote.resolve(at)

  const snapshotAt = (at: string | undefined) =>
    at === undefined ? remote.snapshot(store.branch) : remote.snapshotAt(at)

  const rootAt = Effect.fnUntraced(function* (at: string | undefined) {
    const found = yield* snapshotAt(at).directory(store.root)
    return rootOf(Option.match(found, { onNone: () => [], onSome: ({ tree }) => tree.entries }))
  })

  const present = Effect.gen(function* () {
    const root = yield* rootAt(undefined)
    listed = { at: yield* Monotonic.millis, root }
    return root
  })

  const recent = Effect.gen(function* () {
    const now = yield* Monotonic.millis
    return listed !== undefined && now - listed.at < listingMaxAge ? listed.root : yield* present
  })

  let fieldsOf: ManifestFieldsReader | undefined

  /** The fields of the manifest of format 2; empty if there is no such manifest. */
  const projectedBy = Effect.fnUntraced(function* ({ at, collection }: Query) {
    const { manifests, settings } = yield* at === undefined ? recent : rootAt(at)
    if (!manifests || settings === undefined) return []
    fieldsOf ??= (yield* manifestFields).makeManifestFieldsReader()
    return yield* fieldsOf(
      collection,
      settings,
      snapshotAt(at).file(under(settingsFileName), { maxAge: listingMaxAge })
    )
  })

  let readManifest: ManifestReader | undefined

  const manifestFile = Effect.fnUntraced(function* (collection: string, at: string | undefined) {
    readManifest ??= (yield* manifestReader).makeManifestReader(remote, store.branch, {
      at: headAt,
      path: (name) => under(`_manifest/${name}.json`)
    })
    return yield* readManifest(collection, at)
  })

  const manifestOf = Effect.fnUntraced(function* ({ at, collection }: Query) {
    const found = yield* manifestFile(collection, at)
    if (Option.isNone(found) || found.value.documents.size === 0) return Option.none()
    const manifest = found.value
    const { fields, tree } = manifest
    const root = yield* at === undefined ? recent : rootAt(at)
    const isCurrent =
      tree !== undefined &&
      (root.trees.get(collection) === tree ||
        (at === undefined && (yield* present).trees.get(collection) === tree))
    if (isCurrent) {
      const state = { current: true, fields, missing: [], extra: [] }
      return Option.some({ manifest, believed: true, state })
    }
    const view = yield* viewAt(at)
    const ids = yield* view.collection(collection).list()
    const there = new Set(ids)
    const listedIds = new Set(manifest.ids)
    const believed = tree === undefined && store.trustForeignIndexes
    return Option.some({
      manifest: believed ? { ...manifest, ids: manifest.ids.filter((id) => there.has(id)) } : manifest,
      believed,
      state: {
        current: false,
        fields,
        missing: ids.filter((id) => !listedIds.has(id)),
        extra: manifest.ids.filter((id) => !there.has(id))
      }
    })
  })

  const fromDocuments = (query: Query, projected: Effect.Effect<ReadonlyArray<string>, ReadError> = none) =>
    Effect.flatMap(documents, ({ documentQueries }) => documentQueries(remote, viewAt)(query, projected))

  let staged: StagedEdits | undefined

  const writing = <A>(
    write: (all: Pick<Browse, "createIndex" | "restore">) => Effect.Effect<A, WriteError>
  ): Effect.Effect<A, WriteError> =>
    Effect.flatMap(writes, ({ makeBrowseWrites }) => write(makeBrowseWrites(options))).pipe(
      Effect.tap(() => {
        listed = undefined
      })
    )

  return {
    readOnly: options.readOnly,
    newer: Effect.fn("Browse.newer")(function* (since) {
      const found = yield* remote.head(store.branch)
      if (Option.isNone(found)) return { head: null }
      const head = found.value.commit
      if (since === undefined || since === head) return { head, count: 0 }
      const commits = yield* remote.log(found.value, "", { limit: maxNewerCommits }).pipe(Stream.runCollect)
      const count = [...commits].findIndex(({ commit }) => commit === since)
      return count < 0 ? { head } : { head, count }
    }),
    timeline: Effect.map(timelines, ({ makeTimeline }) => makeTimeline(options)),
    roots: Effect.flatMap(dataRoots, ({ findRoots }) => findRoots(remote.snapshot(store.branch))),
    onBranch: (branch) => openBrowse({ ...options, store: store.onBranch(branch) }),
    collections: Effect.map(present, ({ trees }) => [...trees.keys()]),
    query: Effect.fn("Browse.query")(function* (query) {
      const problem = queryProblem(query)
      if (problem !== undefined) return yield* invalid(problem)
      const asksConditions = query.where !== undefined || query.orderBy !== undefined
      if (asksConditions || query.projected !== true) return yield* fromDocuments(query)
      const found = yield* manifestOf(query)
      if (Option.isNone(found)) return yield* fromDocuments(query, projectedBy(query))
      const { believed, manifest, state } = found.value
      const {
        queryManifest: answerFromManifest,
        coversQuery: covers,
        cursorPosition: cursorPlace
      } = yield* manifestQuery
      if (believed && covers(manifest, query)) {
        const after = query.cursor == null ? undefined : cursorPlace(query.cursor, query)
        if (query.cursor != null && after === undefined)
          return yield* invalid("the cursor belongs to another query")
        return yield* answerFromManifest(manifest, query, after, state)
      }
      const answer = yield* fromDocuments(query)
      return { ...answer, manifest: state }
    }),
    document: Effect.fn("Browse.document")(function* (collection, id, at) {
      const view = yield* viewAt(at)
      return yield* view.collection(collection).get(id, at === undefined ? { fresh: true } : undefined)
    }),
    history: Effect.fn("Browse.history")(function* (collection, id, limit) {
      if (!isCount(limit)) return yield* invalid(`limit must be a whole number from 1 to ${maxLimit}`)
      if (id !== undefined) return yield* store.collection(collection).history(id, { limit })
      const problem = collectionNameProblem(collection)
      if (problem !== undefined) return yield* invalid(`collection ${JSON.stringify(collection)}: ${problem}`)
      const head = yield* remote.head(store.branch)
      if (Option.isNone(head)) return []
      const commits = yield* remote.log(head.value, under(collection), { limit }).pipe(Stream.runCollect)
      return Array.from(commits, historyEntry)
    }),
    restore: (...given) => writing(({ restore }) => restore(...given)),
    createIndex: (...given) => writing(({ createIndex }) => createIndex(...given)),
    edits: Effect.map(editing, ({ makeStagedEdits: makeEdits }) => {
      staged ??= makeEdits(store, remote, options.readOnly)
      return staged
    }),
    rate: store.rateLimit
  }
}
