import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
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

/** What the settings file of a repository says, or that there is none. */
export interface RecordedSettings {
  readonly settings: Settings
  /** False where the repository has no settings file: index and manifest files that exist are kept up then. */
  readonly recorded: boolean
  /** True where the next write must write the settings file. */
  readonly unrecorded: boolean
  /** Why this program may not write here, if so. */
  readonly frozen: string | undefined
  /** The error for a store whose options differ from the settings file. */
  readonly mismatch: ValidationError | undefined
}

/** The settings that hold in a snapshot, with the root's direct entries, which say whether they changed. */
export interface SettingsAt extends RecordedSettings {
  readonly entries: ReadonlyMap<string, TreeEntry>
  readonly settingsVersion: SettingsVersion
}

/** How many milliseconds settings that cost requests are taken from an earlier look. */
export const settingsMaxAge = 60_000

/** The root as a commit had it, as far as a write by the branch's name depends on it. */
export interface RootSummary {
  readonly settingsVersion: SettingsVersion
  /** The ids of its files by their names, which no collection can have. */
  readonly files: ReadonlyMap<string, Oid>
}

/** What a commit of one document, which checked nothing but that, was built on and is not so. */
export interface BrokenAssumptions {
  /** The commit, where others had changed the settings that the write took for granted. */
  readonly settingsChangedAt: Option.Option<Snapshot>
  /** The file that had the name of the collection, which is a directory now. */
  readonly replacedFile: Option.Option<Oid>
}

/** The ids of what says how documents are to be written: of the settings file or, without one, of index and manifest directories. */
export type SettingsVersion = string

export interface RepositorySettings {
  /** The settings as a snapshot has them. */
  readonly at: (snapshot: Snapshot) => Effect.Effect<SettingsAt, ReadError>
  /** The same for a read, in the fewest requests; options that differ from what is recorded are an error. */
  readonly forRead: (snapshot: Snapshot) => Effect.Effect<RecordedSettings, ReadError>
  /** As they were last seen, for guesses about what will be read. */
  readonly lastRead: () => RecordedSettings
  /**
   * What a commit overlooked. One look at its root tells, or at its parent's for a collection that was not there before,
   * unless it stands on a commit whose root was seen.
   */
  readonly brokenAssumptions: (
    made: CreatedCommit,
    assumed: SettingsVersion,
    begun: string | undefined
  ) => Effect.Effect<BrokenAssumptions, ReadError>
  /** A commit of ours left the root's own files as they were at its parent. */
  readonly inheritRoot: (parent: Option.Option<Oid>, commit: Oid) => void
}

/** How long a commit is waited for that the remote has just made: 13 seconds. */
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

/** The error for a collection whose name is that of a file, if it is one. */
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

/** The error for indexes that the format of settings cannot hold, if there are any. */
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
  /** True for a view of the past, which has the settings of its time. */
  readonly isOfThePast: boolean
  /** The root files of commits, where looking costs requests; shared with the store that this one is a branch of. */
  readonly seen: LruCache<RootSummary>
}

/** The settings of a repository as they are in a snapshot, and the root's entries, which say whether they changed. */
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
  let lastSeen = absent

  /** What may be taken from an earlier look; a commit is looked at. */
  const lookOf = (snapshot: Snapshot) => (snapshot.isPinned() ? {} : { maxAge: settingsMaxAge })

  const judge = (file: FileVersion) =>
    Effect.gen(function* () {
      const known = files.get(file.oid)
      if (known !== undefined) return known
      const parsed = parseSettings(file.content)
      if (Either.isLeft(parsed)) {
        return yield* new ValidationError({
          operation: "Store.settings",
          path,
          message: `${path} ${parsed.left}`,
          hint: "mend the settings file in a commit, or use a newer version of this program"
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
              hint: "leave them out to adopt what is recorded, or change the file in a commit and run reindex",
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
      const known = files.get(entry.oid)
      if (known !== undefined) return { ...known, entries, settingsVersion: entry.oid }
      // By its name the file may be newer than the directory that named it: its own id says which settings they are.
      const file = yield* snapshot.untracked.file(path, lookOf(snapshot))
      if (Option.isNone(file)) {
        const others = new Map(entries)
        others.delete(settingsFileName)
        return { ...without, settingsVersion: settingsVersionOf(others) }
      }
      return { ...(yield* judge(file.value)), entries, settingsVersion: file.value.oid }
    })

  const at: RepositorySettings["at"] = (snapshot) =>
    Effect.gen(function* () {
      if (!isAsked) yield* snapshot.head
      const pinned = snapshot.known()
      const known = pinned === undefined ? undefined : roots.get(pinned.tree)
      if (pinned !== undefined && known !== undefined) {
        if (isAsked && seen.get(pinned.commit) === undefined)
          seen.set(pinned.commit, rootSummary(known.entries))
        return known
      }
      const root = yield* snapshot.untracked.directory(options.root, {
        ...lookOf(snapshot),
        prefetchFiles: [path]
      })
      const entries = new Map(
        Option.isNone(root) ? [] : root.value.tree.entries.map((entry) => [entry.path, entry])
      )
      const at = pinned ?? (Option.isSome(root) ? root.value.at : undefined)
      const isCommit = at !== undefined && typeof at !== "string"
      // Where nothing is found, the commit may not have arrived yet.
      const isKept = isCommit && Option.isSome(root)
      if (isKept && isAsked) seen.set(at.commit, rootSummary(entries))
      const settings = yield* recordedIn(snapshot, entries)
      lastSeen = settings
      return isKept && at === pinned ? roots.set(at.tree, settings) : settings
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
      // Its root holds at least what was just put.
      if (entries.size === 0 && made.blobs.size > 0) return yield* commitNotVisible(made.commit)
      return rootSummary(entries)
    }).pipe(
      Effect.retry({
        schedule: waitForCommit,
        while: (error) => "reason" in error && error.reason === "Server"
      })
    )

  /** The root that a commit of one document stands on: its own, unless that hides what was in the document's way. */
  const rootBefore = (made: CreatedCommit, begun: string | undefined) =>
    Effect.gen(function* () {
      const [parent] = made.parents ?? []
      if (made.parents?.length === 0) return rootSummary(new Map())
      const known = parent && seen.get(parent)
      if (known !== undefined) return known
      const entries = parent === undefined || begun === undefined ? new Map() : yield* entriesAt(parent)
      // A machine that is behind knows no parent, and there may be no root yet.
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
