import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Streams from "../../../domain/concurrency/Streams.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { type Settings, settingsFileName } from "../../../domain/settings/Settings.js"
import { pathProblem } from "../../../git/Names.js"
import { documentPath, under } from "../../DocumentPath.js"
import type { FileVersion } from "../../remote/GitRemote.js"
import { instrument } from "../calls/Instrumentation.js"
import { spanAttributes } from "../calls/SpanAttributes.js"
import type { StoreCore } from "../commit/StoreCore.js"

/** The name of a document. */
export interface DocumentName {
  readonly collection: string
  readonly id: string
}

/** The path of a document, and its file. */
export interface DocumentRead {
  readonly path: string
  readonly file: Option.Option<FileVersion>
}

/** The number of files that are read by the query that finds the commit; further files need queries of their own. */
const maxWithCommit = 50

const instrumented = instrument("Store.getTogether")

/** Paths in the order of the names. */
const pathsBy = (
  { options: { root } }: StoreCore,
  settings: Settings,
  names: ReadonlyArray<DocumentName>
): ReadonlyArray<string> => names.map(({ collection, id }) => documentPath(root, settings, collection, id))

const isReadable = (path: string) => pathProblem(path) === undefined

/** Only a view's cache is used: it contains files of exactly its commit. A branch's cache may be outdated. */
const cachedFiles = ({ cache, isPinned }: StoreCore, paths: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const held = new Map<string, FileVersion>()
    if (!isPinned) return held
    for (const path of paths) {
      const file = yield* cache.get(path)
      if (Option.isSome(file)) held.set(path, file.value)
    }
    return held
  })

const readAll = (
  core: StoreCore,
  names: ReadonlyArray<DocumentName>
): Effect.Effect<ReadonlyArray<DocumentRead>, ReadError> =>
  Effect.gen(function* () {
    const { options } = core
    const snapshot = core.snapshot()
    yield* snapshot.prefetch(() => ({
      files: [
        under(options.root, settingsFileName),
        ...pathsBy(core, core.repository.lastRead().settings, names)
          .filter(isReadable)
          .slice(0, maxWithCommit)
      ],
      directories: [options.root]
    }))
    if (snapshot.isPinned()) yield* snapshot.head
    const { settings } = yield* core.settings(snapshot)
    const paths = pathsBy(core, settings, names)
    const wanted = [...new Set(paths.filter(isReadable))]
    const files = yield* cachedFiles(core, wanted)
    const missing = wanted.filter((path) => !files.has(path))
    for (const [path, { oid }] of files) snapshot.readSet.files.set(path, oid)
    yield* Streams.forEach(snapshot.files(missing, options), ({ content, oid, path }) => {
      files.set(path, { content, oid })
      return core.isPinned ? core.cache.set(path, Option.some({ content, oid })) : Effect.void
    })
    return paths.map((path) => ({ path, file: Option.fromNullable(files.get(path)) }))
  })

/** Whether a failure may concern a single file, so that the other files can be read. */
const isOfOneFile = (error: ReadError): boolean =>
  error._tag === "ValidationError" || ("reason" in error && error.reason === "Corrupt")

/**
 * Reads several documents, at one commit if the remote reads many files in one round. If one of them cannot be read,
 * `alone` determines the result of each.
 */
export const readTogether = (
  core: StoreCore,
  names: ReadonlyArray<DocumentName>,
  alone: (name: DocumentName) => Effect.Effect<DocumentRead, ReadError>
): Effect.Effect<ReadonlyArray<Effect.Effect<DocumentRead, ReadError>>> =>
  instrumented.effect(readAll(core, names), { ...spanAttributes(core), documents: names.length }).pipe(
    Effect.match({
      onSuccess: (found) => found.map((one) => Effect.succeed(one)),
      onFailure: (error) => names.map((name) => (isOfOneFile(error) ? alone(name) : Effect.fail(error)))
    })
  )
