import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { makeSharedResults } from "../../../domain/concurrency/SharedCalls.js"
import { type ReadError, RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import {
  isPlainSettings,
  parseSettings,
  plainSettings,
  type Settings,
  settingsDifferences,
  settingsFileName,
  settingsFormat,
  unsupportedIndex
} from "../../../domain/settings/Settings.js"
import { under } from "../../DocumentPath.js"
import {
  type CreatedCommit,
  type FileVersion,
  type GitRemoteService,
  type Head,
  type TreeEntry,
  takesRequests
} from "../../remote/GitRemote.js"
import { snapshotAt } from "../../remote/RemoteSnapshot.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import { makeSnapshot, type Snapshot } from "./Snapshot.js"

/** The recorded settings of a repository, or the defaults if it has no settings file. */
export interface RecordedSettings {
  readonly settings: Settings
  /** False if the repository has no settings file: existing index and manifest files are maintained then. */
  readonly recorded: boolean
  /** True if the next write must write the settings file. */
  readonly unrecorded: boolean
  /** Why this program must not write here; undefined if it may. */
  readonly frozen: string | undefined
  /** The error for a store whose options differ from the settings file. */
  readonly mismatch: ValidationError | undefined
}

/** The settings of a snapshot, with the direct entries of the root. */
export interface SettingsAt extends RecordedSettings {
  readonly entries: ReadonlyMap<string, TreeEntry>
  readonly settingsVersion: SettingsVersion
}

/** For how many milliseconds a read by the branch's name uses settings that were read earlier. */
export const settingsMaxAge = 60_000

/** What the checks of a write by the branch's name need to know about the root of a commit. */
export interface RootSummary {
  readonly settingsVersion: SettingsVersion
  /** The ids of the root's files by name. A collection cannot have the name of a file. */
  readonly files: ReadonlyMap<string, Oid>
}

/** The assumptions of a single-document commit that turned out to be wrong. */
export interface BrokenAssumptions {
  /** The commit, if other settings than the assumed ones apply to it. */
  readonly settingsChangedAt: Option.Option<Snapshot>
  /** The file that had the collection's name and was replaced by the collection's directory. */
  readonly replacedFile: Option.Option<Oid>
}

/**
 * Identifies the rules by which documents are written: the id of the settings file or, without one, the ids of the
 * index and manifest directories.
 */
export type SettingsVersion = string

export interface RepositorySettings {
  /** The settings of a snapshot. */
  readonly at: (snapshot: Snapshot) => Effect.Effect<SettingsAt, ReadError>
  /** The settings for a read, with the fewest requests. Fails if the options differ from the recorded settings. */
  readonly forRead: (snapshot: Snapshot) => Effect.Effect<RecordedSettings, ReadError>
  /** The settings that were read last, for deciding what to prefetch. */
  readonly lastRead: () => RecordedSettings
  /**
   * Checks the assumptions of a commit. This reads the commit's root (its parent's root if the collection is new),
   * unless the root of the parent is cached.
   */
  readonly brokenAssumptions: (
    made: CreatedCommit,
    assumed: SettingsVersion,
    begun: string | undefined
  ) => Effect.Effect<BrokenAssumptions, ReadError>
  /** Records that a commit of this store did not change the files of its parent's root. */
  readonly inheritRoot: (parent: Option.Option<Oid>, commit: Oid) => void
}

/** How long to wait until the remote shows a commit that it has just made: 13 seconds in total. */
const waitForCommit = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(7))

const commitNotVisible = (commit: Oid) =>
  new RemoteError({
    operation: "Store.settings",
    reason: "Server",
    message: `the remote made the commit ${commit} and does not show it`,
    hint: "try again later"
  })

const settingsVersionOf = (entries: ReadonlyMap<string, TreeEntry>): SettingsVersion => {
  const settings = entries.get(settingsFileName)
  if (settings !== undefined) return settings.oid
  return `${entries.get("_index")?.oid ?? ""} ${entries.get("_manifest")?.oid ?? ""}`
}

const rootSummary = (entries: ReadonlyMap<string, TreeEntry>): RootSummary => ({
  settingsVersion: settingsVersionOf(entries),
  files: new Map(
    Array.from(entries.values()).flatMap(({ kind, oid, path }) =>
      kind === "blob" ? [[path, oid] as const] : []
    )
  )
})

/** The error for a collection that has the name of a file. */
export const directoryProblem = (
  { root }: ResolvedOptions,
  { entries }: SettingsAt,
  operation: string,
  collection: string
): ValidationError | undefined => {
  const entry = entries.get(collection)
  if (entry === undefined || entry.kind === "tree") return undefined
  const path = under(root, collection)
  return new ValidationError({
    operation,
    path,
    collection,
    message: `${path} is a file: the collection ${collection} cannot be a directory there`,
    hint: "remove or rename the file in a commit, or use another name"
  })
}

/** The error for indexes that the recorded format does not support. */
export const formatProblem = (settings: Settings, operation: string): ValidationError | undefined => {
  const problem = unsupportedIndex(settings)
  return (
    problem &&
    new ValidationError({
      operation,
      collection: problem.collection,
      message: problem.message,
      hint: "give format: 2, or run reindex --format 2",
      issues: [{ path: problem.path, message: problem.message }]
    })
  )
}

interface SettingsDependencies {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  /** True for a view of a past commit, which uses the settings of that commit. */
  readonly isOfThePast: boolean
  /** Root summaries by commit, if reads cost requests. A fork shares them with its origin. */
  readonly seen: LruCache<RootSummary>
}

/** Reads the settings of a repository from snapshots. */
export const make = ({ isOfThePast, options, remote, seen }: SettingsDependencies): RepositorySettings => {
  const path = under(options.root, settingsFileName)
  const asked: Settings = { ...plainSettings, ...options.given }
  const absent: RecordedSettings = {
    settings: asked,
    recorded: false,
    unrecorded: !isPlainSettings(asked),
    frozen: undefined,
    mismatch: formatProblem(asked, "Store.settings")
  }
  const isAsked = takesRequests(remote)
  const roots = new LruCache<SettingsAt>(8)
  const files = new LruCache<RecordedSettings>(8)
  const shared = makeSharedResults<SettingsAt, ReadError>()
  let lastSeen = absent

  /** A read by the branch's name may use a recent result; a read of a commit may not. */
  const lookOf = (snapshot: Snapshot) => (snapshot.isPinned() ? {} : { maxAge: settingsMaxAge })

  const judge = (file: FileVersion) =>
    Effect.gen(function* () {
      const cached = files.get(file.oid)
      if (cached !== undefined) return cached
      const parsed = parseSettings(file.content)
      if (Either.isLeft(parsed)) {
        return yield* new ValidationError({
          operation: "Store.settings",
          path,
          message: `${path} ${parsed.left}`,
          hint: "correct the settings file in a commit, or use a newer version of this program"
        })
      }
      const { format, settings } = parsed.right
      const differ = settingsDifferences(options.given, settings)
      const mismatch =
        differ.length === 0
          ? undefined
          : new ValidationError({
              operation: "Store.settings",
              path,
              message: `the options ${differ.join(", ")} differ from those recorded in ${path}`,
              hint: "omit them to adopt the recorded settings, or change the file in a commit and run reindex",
              issues: differ.map((name) => ({ path: name, message: "differs from the repository's setting" }))
            })
      const frozen =
        format > settingsFormat
          ? `${path} is of format ${format}, newer than this program knows: it reads here but does not write`
          : undefined
      return files.set(file.oid, { settings, recorded: true, unrecorded: false, frozen, mismatch })
    })

  const recordedIn = (snapshot: Snapshot, entries: ReadonlyMap<string, TreeEntry>) =>
    Effect.gen(function* () {
      const entry = entries.get(settingsFileName)
      const without = { ...absent, entries, settingsVersion: settingsVersionOf(entries) }
      if (entry?.kind !== "blob") return without
      const cached = files.get(entry.oid)
      if (cached !== undefined) return { ...cached, entries, settingsVersion: entry.oid }
      // A read by the branch's name may return a newer file than the one that the directory lists: its own id
      // identifies the settings.
      const file = yield* snapshot.untracked.file(path, lookOf(snapshot))
      if (Option.isNone(file)) {
        const others = new Map(entries)
        others.delete(settingsFileName)
        return { ...without, settingsVersion: settingsVersionOf(others) }
      }
      return { ...(yield* judge(file.value)), entries, settingsVersion: file.value.oid }
    })

  const readAt = (snapshot: Snapshot, pinned: Head | undefined) =>
    Effect.gen(function* () {
      const root = yield* snapshot.untracked.directory(options.root, {
        ...lookOf(snapshot),
        prefetchFiles: [path]
      })
      const entries = new Map(
        Option.isNone(root) ? [] : root.value.tree.entries.map((entry) => [entry.path, entry])
      )
      const at = pinned ?? (Option.isSome(root) ? root.value.at : undefined)
      const isCommit = at !== undefined && typeof at !== "string"
      // If the root is not found, the remote may not show the commit yet.
      const isKept = isCommit && Option.isSome(root)
      if (isKept && isAsked) seen.set(at.commit, rootSummary(entries))
      const settings = yield* recordedIn(snapshot, entries)
      lastSeen = settings
      return isKept && at === pinned ? roots.set(at.tree, settings) : settings
    })

  const at: RepositorySettings["at"] = (snapshot) =>
    Effect.gen(function* () {
      if (!isAsked) yield* snapshot.head
      const pinned = snapshot.known()
      if (pinned === undefined) return yield* readAt(snapshot, undefined)
      const cached = roots.get(pinned.tree)
      if (cached === undefined) return yield* shared(pinned.commit, readAt(snapshot, pinned))
      if (isAsked && seen.get(pinned.commit) === undefined)
        seen.set(pinned.commit, rootSummary(cached.entries))
      return cached
    })

  const forRead: RepositorySettings["forRead"] = (snapshot) =>
    Effect.gen(function* () {
      let settings: RecordedSettings
      if (snapshot.isPinned()) settings = yield* at(snapshot)
      else {
        const file = yield* snapshot.untracked.file(path, { maxAge: settingsMaxAge, optional: true })
        settings = Option.isNone(file) ? absent : yield* judge(file.value)
        lastSeen = settings
      }
      if (settings.mismatch !== undefined && !isOfThePast) return yield* settings.mismatch
      return settings
    })

  const headOf = ({ commit, tree }: CreatedCommit): Effect.Effect<Option.Option<Head>, ReadError> =>
    Option.isSome(tree) ? Effect.succeedSome({ commit, tree: tree.value }) : remote.resolve(commit)

  const entriesAt = (at: Head | Oid) =>
    Effect.map(remote.tree(at, options.root), (root) =>
      Option.isSome(root) ? new Map(root.value.entries.map((entry) => [entry.path, entry])) : new Map()
    )

  const rootAt = (made: CreatedCommit) =>
    Effect.gen(function* () {
      const head = yield* headOf(made)
      const entries: ReadonlyMap<string, TreeEntry> = Option.isSome(head)
        ? yield* entriesAt(head.value)
        : new Map()
      // The root contains at least the document that was just written.
      if (entries.size === 0 && made.blobs.size > 0) return yield* commitNotVisible(made.commit)
      return rootSummary(entries)
    }).pipe(
      Effect.retry({
        schedule: waitForCommit,
        while: (error) => "reason" in error && error.reason === "Server"
      })
    )

  /**
   * The root on which a commit of one document is based. The commit's own root does not show which file a new
   * collection replaced, so the parent's root is read in that case.
   */
  const rootBefore = (made: CreatedCommit, begun: string | undefined) =>
    Effect.gen(function* () {
      const [parent] = made.parents ?? []
      if (made.parents?.length === 0) return rootSummary(new Map())
      const cached = parent && seen.get(parent)
      if (cached !== undefined) return cached
      const entries = parent === undefined || begun === undefined ? new Map() : yield* entriesAt(parent)
      // A replica that lags behind does not know the parent, and the parent may have no root directory.
      return entries.size > 0 ? rootSummary(entries) : yield* rootAt(made)
    })

  return {
    at,
    forRead,
    lastRead: () => lastSeen,
    brokenAssumptions: (made, assumed, begun) =>
      Effect.gen(function* () {
        const { files, settingsVersion } = yield* rootBefore(made, begun)
        const replacedFile = Option.fromNullable(begun === undefined ? undefined : files.get(begun))
        if (Option.isNone(replacedFile)) seen.set(made.commit, { settingsVersion, files })
        if (settingsVersion === assumed) return { settingsChangedAt: Option.none(), replacedFile }
        const head = yield* headOf(made)
        if (Option.isNone(head)) return yield* commitNotVisible(made.commit)
        return { settingsChangedAt: Option.some(makeSnapshot(snapshotAt(remote, head.value))), replacedFile }
      }),
    inheritRoot: (parent, commit) => {
      const before = isAsked && Option.isSome(parent) ? seen.get(parent.value) : undefined
      if (before !== undefined) seen.set(commit, before)
    }
  }
}
