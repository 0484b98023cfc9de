import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { Bounded } from "../../domain/Bounded.js"
import type { Oid } from "../../domain/Oid.js"
import {
  differences,
  isPlain,
  parseSettings,
  plainSettings,
  type Settings,
  settingsFileName,
  settingsFormat
} from "../../domain/Settings.js"
import { type ReadError, RemoteError, ValidationError } from "../../domain/StoreError.js"
import { under } from "../DocumentPath.js"
import {
  type CommitMade,
  type FileVersion,
  type GitRemoteService,
  type Head,
  type TreeEntry,
  takesRequests
} from "../remote/GitRemote.js"
import { snapshotAt } from "../remote/RemoteSnapshot.js"
import type { ResolvedOptions } from "../StoreOptions.js"
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
  readonly rootFiles: RootFiles
}

/** How many milliseconds settings that cost requests are taken from an earlier look. */
export const settingsMaxAge = 60_000

/** The ids of what says how documents are to be written: of the settings file or, without one, of index and manifest directories. */
export type RootFiles = string

export interface RepositorySettings {
  /** The settings as a snapshot has them. */
  readonly at: (snapshot: Snapshot) => Effect.Effect<SettingsAt, ReadError>
  /** The same for a read, in the fewest requests; options that differ from what is recorded are an error. */
  readonly forRead: (snapshot: Snapshot) => Effect.Effect<RecordedSettings, ReadError>
  /** As they were last seen, for guesses about what will be read. */
  readonly lastSeen: () => RecordedSettings
  /**
   * The commit that was made, where others had changed the settings that the write took for granted. One look at its
   * root tells, unless it stands on a commit whose root was seen.
   */
  readonly changedAt: (
    made: CommitMade,
    assumed: RootFiles
  ) => Effect.Effect<Option.Option<Snapshot>, ReadError>
  /** A commit of ours left the root's own files as they were at its parent. */
  readonly keptRootFiles: (parent: Option.Option<Oid>, commit: Oid) => void
}

/** How long a commit is waited for that the remote has just made: 13 seconds. */
const arriving = Schedule.intersect(Schedule.exponential("100 millis"), Schedule.recurs(7))

const unseen = (commit: Oid) =>
  new RemoteError({
    operation: "Store.settings",
    reason: "Server",
    message: `the remote made the commit ${commit} and does not show it`,
    hint: "try again later"
  })

const filesAmong = (entries: ReadonlyMap<string, TreeEntry>): RootFiles => {
  const settings = entries.get(settingsFileName)
  if (settings !== undefined) return settings.oid
  return `${entries.get("_index")?.oid ?? ""} ${entries.get("_manifest")?.oid ?? ""}`
}

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

interface Parts {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  /** True for a view of the past, which has the settings of its time. */
  readonly isOfThePast: boolean
  /** The root files of commits; shared with the store that this one is a branch of. */
  readonly seen: Bounded<RootFiles>
}

/** The settings of a repository as they are in a snapshot, and the root's entries, which say whether they changed. */
export const make = ({ isOfThePast, options, remote, seen }: Parts): RepositorySettings => {
  const path = under(options.root, settingsFileName)
  const asked: Settings = { ...plainSettings, ...options.given }
  const absent: RecordedSettings = {
    settings: asked,
    recorded: false,
    unrecorded: !isPlain(asked),
    frozen: undefined,
    mismatch: undefined
  }
  const roots = new Bounded<SettingsAt>(8)
  const files = new Bounded<RecordedSettings>(8)
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
      const differ = differences(options.given, settings)
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
      const without = { ...absent, entries, rootFiles: filesAmong(entries) }
      if (entry?.kind !== "blob") return without
      const known = files.get(entry.oid)
      if (known !== undefined) return { ...known, entries, rootFiles: entry.oid }
      // By its name the file may be newer than the directory that named it: its own id says which settings they are.
      const file = yield* snapshot.unnoted.file(path, lookOf(snapshot))
      if (Option.isNone(file)) {
        const others = new Map(entries)
        others.delete(settingsFileName)
        return { ...without, rootFiles: filesAmong(others) }
      }
      return { ...(yield* judge(file.value)), entries, rootFiles: file.value.oid }
    })

  const at: RepositorySettings["at"] = (snapshot) =>
    Effect.gen(function* () {
      if (!takesRequests(remote)) yield* snapshot.head
      const pinned = snapshot.known()
      const known = pinned === undefined ? undefined : roots.get(pinned.tree)
      if (pinned !== undefined && known !== undefined) {
        seen.set(pinned.commit, known.rootFiles)
        return known
      }
      const root = yield* snapshot.unnoted.directory(options.root, { ...lookOf(snapshot), bring: [path] })
      const entries = new Map(
        Option.isNone(root) ? [] : root.value.tree.entries.map((entry) => [entry.path, entry])
      )
      const at = pinned ?? (Option.isSome(root) ? root.value.at : undefined)
      const isCommit = at !== undefined && typeof at !== "string"
      // Where nothing is found, the commit may not have arrived yet.
      const isKept = isCommit && Option.isSome(root)
      if (isKept) seen.set(at.commit, filesAmong(entries))
      const settings = yield* recordedIn(snapshot, entries)
      lastSeen = settings
      return isKept && at === pinned ? roots.set(at.tree, settings) : settings
    })

  const forRead: RepositorySettings["forRead"] = (snapshot) =>
    Effect.gen(function* () {
      let settings: RecordedSettings
      if (snapshot.isPinned()) settings = yield* at(snapshot)
      else {
        const file = yield* snapshot.unnoted.file(path, { maxAge: settingsMaxAge, readsOn: true })
        settings = Option.isNone(file) ? absent : yield* judge(file.value)
        lastSeen = settings
      }
      if (settings.mismatch !== undefined && !isOfThePast) return yield* settings.mismatch
      return settings
    })

  const headOf = ({ commit, tree }: CommitMade): Effect.Effect<Option.Option<Head>, ReadError> =>
    Option.isSome(tree) ? Effect.succeedSome({ commit, tree: tree.value }) : remote.resolve(commit)

  const rootFilesAt = (made: CommitMade) =>
    Effect.gen(function* () {
      const head = yield* headOf(made)
      const root = Option.isSome(head) ? yield* remote.tree(head.value, options.root) : Option.none()
      const entries = new Map(
        Option.isSome(root) ? root.value.entries.map((entry) => [entry.path, entry]) : []
      )
      // Its root holds at least what was just put.
      if (entries.size === 0 && made.blobs.size > 0) return yield* unseen(made.commit)
      return filesAmong(entries)
    }).pipe(
      Effect.retry({ schedule: arriving, while: (error) => "reason" in error && error.reason === "Server" })
    )

  return {
    at,
    forRead,
    lastSeen: () => lastSeen,
    changedAt: (made, assumed) =>
      Effect.gen(function* () {
        const [parent] = made.parents ?? []
        const before = made.parents?.length === 0 ? filesAmong(new Map()) : parent && seen.get(parent)
        const found = seen.set(made.commit, before ?? (yield* rootFilesAt(made)))
        if (found === assumed) return Option.none()
        const head = yield* headOf(made)
        if (Option.isNone(head)) return yield* unseen(made.commit)
        return Option.some(makeSnapshot(snapshotAt(remote, head.value)))
      }),
    keptRootFiles: (parent, commit) => {
      const before = Option.isNone(parent) ? undefined : seen.get(parent.value)
      if (before !== undefined) seen.set(commit, before)
    }
  }
}
