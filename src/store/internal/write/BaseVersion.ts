import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { NotFoundError, type ReadError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { MergeBase } from "../../Collection.js"
import { documentPath } from "../../DocumentPath.js"
import type { StoredVersion } from "../commit/DocumentEdit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { type DocumentPlace, readVersion } from "../commit/VersionCodec.js"

/** The most commits of a document that are searched for a revision. */
const maxCommits = 1_000

const hint = "read the document again, and give the result of version(id)"

/** Whether a version is the base of a write, as far as the base identifies it. */
export const isBase = (base: MergeBase, { oid, rev }: StoredVersion): boolean =>
  typeof base === "number" ? rev === base : oid === (typeof base === "string" ? base : base.sha)

const described = (base: MergeBase): string =>
  typeof base === "number"
    ? `revision ${base}`
    : `version ${(typeof base === "string" ? base : base.sha).slice(0, 7)}`

const unknown = (place: DocumentPlace, base: MergeBase, core: StoreCore) =>
  new NotFoundError({
    ...place,
    message: `${described(base)} of ${place.collection}/${place.id} is not in ${core.remote.name}`,
    hint
  })

/** The head of the branch, and the path of the document according to its settings. */
const locate = (core: StoreCore, place: DocumentPlace) =>
  Effect.gen(function* () {
    const snapshot = core.snapshot()
    const head = yield* snapshot.head
    const { settings } = yield* core.settings(snapshot)
    return { head, path: documentPath(core.options.root, settings, place.collection, place.id) }
  })

const versionAt = (
  core: StoreCore,
  commit: Parameters<StoreCore["remote"]["file"]>[0],
  path: string
): Effect.Effect<Option.Option<StoredVersion>, ReadError> =>
  Effect.flatMap(
    core.remote.file(commit, path),
    Effect.transposeMapOption((blob) => readVersion(path, blob))
  )

const byCommit = (
  core: StoreCore,
  commit: string,
  path: string
): Effect.Effect<Option.Option<StoredVersion>, ReadError> =>
  Effect.flatMap(
    core.remote.resolve(commit),
    Option.match({
      onNone: () => Effect.succeedNone,
      onSome: (head) => versionAt(core, head, path)
    })
  )

/** The versions of the document in the history, newest first; none for a commit that deleted it. */
const versions = (core: StoreCore, at: Oid, path: string) =>
  core.remote
    .log(at, path, { limit: maxCommits })
    .pipe(
      Stream.mapEffect(({ commit, parents }) =>
        Effect.map(versionAt(core, commit, path), (version) => ({ isMerge: parents.length > 1, version }))
      )
    )

/**
 * The version with a revision. Manual edits and merges can give one revision to several versions, which is an error.
 */
const byRevision = (core: StoreCore, place: DocumentPlace, at: Oid, path: string, wanted: number) =>
  Effect.gen(function* () {
    const ambiguous = new ValidationError({
      ...place,
      message: `the history of ${place.collection}/${place.id} has several versions with revision ${wanted}`,
      hint
    })
    // A manual edit may have lowered the revision for some commits. Once a version is found, a lower revision means
    // that it is older.
    const isOlder = (version: Option.Option<StoredVersion>) =>
      Option.exists(version, ({ rev }) => rev < wanted)
    const isIt = (version: Option.Option<StoredVersion>) =>
      Option.exists(version, ({ rev }) => rev === wanted)
    const candidates = yield* versions(core, at, path).pipe(
      Stream.mapAccum(false, (found, one) => [
        found || isIt(one.version),
        { ...one, isEnd: found && isOlder(one.version) }
      ]),
      Stream.takeWhile(({ isEnd }) => !isEnd),
      Stream.tap(({ isMerge }) => (isMerge ? ambiguous : Effect.void)),
      Stream.filterMap(({ version }) => Option.filter(version, ({ rev }) => rev === wanted)),
      Stream.runCollect
    )
    const found = Chunk.head(candidates)
    const isOne = Chunk.every(candidates, ({ oid }) => Option.exists(found, (first) => first.oid === oid))
    return isOne ? found : yield* ambiguous
  })

/** Reads the base of a write from the history of the branch, or from the commit that the base names. */
export const readBase = (
  core: StoreCore,
  place: DocumentPlace,
  base: MergeBase
): Effect.Effect<StoredVersion, ReadError> =>
  Effect.gen(function* () {
    const { head, path } = yield* locate(core, place)
    if (Option.isNone(head)) return yield* unknown(place, base, core)
    const at = head.value.commit
    const find = (): Effect.Effect<Option.Option<StoredVersion>, ReadError> => {
      if (typeof base === "number") return byRevision(core, place, at, path, base)
      const { commit, sha } = typeof base === "string" ? { commit: undefined, sha: base } : base
      const isIt = Option.filter<StoredVersion>(({ oid }) => oid === sha)
      const inHistory = versions(core, at, path).pipe(
        Stream.filterMap(({ version }) => isIt(version)),
        Stream.runHead
      )
      const inCommit = commit === undefined ? Effect.succeedNone : byCommit(core, commit, path)
      return Effect.flatMap(Effect.map(inCommit, isIt), (found) =>
        Option.isSome(found) ? Effect.succeed(found) : inHistory
      )
    }
    const found = yield* find()
    return Option.isSome(found) ? found.value : yield* unknown(place, base, core)
  })
