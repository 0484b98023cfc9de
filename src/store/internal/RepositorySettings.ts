import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
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
import type { FileCommitted, GitRemoteService, Head, TreeEntry } from "../remote/GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import { Bounded } from "./Bounded.js"
import type { FileVersion, Source } from "./Source.js"

/** The settings that hold at a commit. */
export interface SettingsAt {
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

/** How long settings that cost requests are believed without looking again. */
const believedFor = 60_000

export interface RepositorySettings {
  readonly at: (head: Option.Option<Head | Oid>) => Effect.Effect<SettingsAt, ReadError>
  readonly now: Effect.Effect<SettingsAt, ReadError>
  /** The settings as they were last seen, for guesses about what will be read. */
  readonly latest: () => SettingsAt
  readonly rootEntries: (head: Head | Oid) => Effect.Effect<ReadonlyMap<string, TreeEntry>, ReadError>
  /**
   * The settings, where a document of the collection can be written without any other file: the collection has
   * neither index nor manifest, and its name is not that of a file. Learnt from the root's directory, and believed for
   * a minute where that costs requests.
   */
  readonly alone: (collection: string) => Effect.Effect<Option.Option<Learnt>, ReadError>
  /**
   * The settings at a commit that was made by others; none where they are those. One look at its root tells, unless it
   * stands on a commit whose root was seen. Where they differ, what was believed is forgotten.
   */
  readonly changedAt: (
    made: FileCommitted,
    by: Learnt
  ) => Effect.Effect<Option.Option<{ readonly settings: SettingsAt; readonly head: Head }>, ReadError>
  /** A commit of ours left the root's own files as they were at its parent. */
  readonly kept: (parent: Option.Option<Oid>, commit: Oid) => void
  readonly forget: Effect.Effect<void>
  /** What is believed, for the settings of a branch that begins at the head of this one. */
  readonly beliefs: () => Beliefs
}

interface Believed {
  readonly settings: SettingsAt
  readonly since: number
}

/** Settings that are believed for a while, since looking again costs requests. */
export interface Beliefs {
  readonly believed: Believed | undefined
  readonly learnt: Learnt | undefined
  readonly seen: Bounded<RootFiles>
}

/** The ids of what says how documents are to be written: of the settings file or, without one, of index and manifest directories. */
type RootFiles = string

const rootFiles = (entries: ReadonlyMap<string, TreeEntry>): RootFiles => {
  const settings = entries.get(settingsFileName)
  if (settings !== undefined) return settings.oid
  return `${entries.get("_index")?.oid ?? ""} ${entries.get("_manifest")?.oid ?? ""}`
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

/** Those of an empty repository. */
const noRootFiles = rootFiles(new Map())

/** Settings as the root's directory told them, for writes that look at nothing else. */
export interface Learnt {
  readonly settings: SettingsAt
  readonly root: RootFiles
  /** Names of files, and of collections with an index or manifest file where no settings file says which. */
  readonly special: ReadonlySet<string>
  readonly since: number
}

/** The settings of a repository as they are at a commit, and the root's entries, which say whether they changed. */
export const make = (
  remote: GitRemoteService,
  options: ResolvedOptions,
  source: Source,
  free: boolean,
  beliefs?: Beliefs
): RepositorySettings => {
  const path = under(options.root, settingsFileName)
  const asked: Settings = { ...plainSettings, ...options.given }
  const absent: SettingsAt = {
    settings: asked,
    recorded: false,
    unrecorded: !isPlain(asked),
    frozen: undefined,
    mismatch: undefined
  }
  const roots = new Bounded<ReadonlyMap<string, TreeEntry>>(8)
  const files = new Bounded<SettingsAt>(8)
  let believed = beliefs?.believed
  let learnt = beliefs?.learnt
  const seen = beliefs?.seen ?? new Bounded<RootFiles>(256)
  let last: { readonly root: string; readonly settings: SettingsAt } | undefined

  const treeOf = (head: Head | Oid) => (typeof head === "string" ? head : head.tree)

  const rootEntries = (head: Head | Oid) => {
    const known = roots.get(treeOf(head))
    if (known !== undefined) {
      if (typeof head !== "string") seen.set(head.commit, rootFiles(known))
      return Effect.succeed(known)
    }
    return Effect.map(remote.tree(head, options.root), (tree) => {
      const entries = new Map(
        Option.isNone(tree) ? [] : tree.value.entries.map((entry) => [entry.path, entry])
      )
      // Where nothing is found, the commit may not have arrived yet.
      if (Option.isNone(tree) && (typeof head === "string" || !free)) return entries
      if (typeof head !== "string") seen.set(head.commit, rootFiles(entries))
      return roots.set(treeOf(head), entries)
    })
  }

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

  const at = (head: Option.Option<Head | Oid>) =>
    Effect.gen(function* () {
      if (Option.isNone(head)) return absent
      const root = treeOf(head.value)
      if (last?.root === root) return last.settings
      const entry = (yield* rootEntries(head.value)).get(settingsFileName)
      if (entry === undefined || entry.kind !== "blob") {
        if (typeof head.value !== "string") last = { root, settings: absent }
        return absent
      }
      const known = files.get(entry.oid)
      const file = known === undefined ? yield* remote.file(head.value, path) : Option.none()
      const settings = known ?? (Option.isSome(file) ? yield* judge(file.value) : absent)
      if (typeof head.value !== "string") last = { root, settings }
      return settings
    })

  /** A view of the past has the settings of its time; a store has those that it was opened with. */
  const agreed = (settings: SettingsAt) =>
    settings.mismatch === undefined || (source.pinned && options.ref === undefined)
      ? Effect.succeed(settings)
      : Effect.fail(settings.mismatch)

  const now = Effect.gen(function* () {
    if (free || source.pinned) return yield* agreed(yield* at(yield* source.head))
    const time = yield* Clock.currentTimeMillis
    if (believed !== undefined && time - believed.since < believedFor) return believed.settings
    const file = yield* source.file(path, { readsOn: true })
    const settings = yield* agreed(Option.isNone(file) ? absent : yield* judge(file.value))
    believed = { settings, since: time }
    return settings
  })

  const namesIn = (directory: string) =>
    Effect.map(
      source.directory(under(options.root, directory), false),
      Option.match({
        onNone: () => [],
        onSome: ({ tree }) => tree.entries.map((entry) => entry.path.replace(/\.json$/, ""))
      })
    )

  const entriesByName = Effect.map(
    source.directory(options.root, false),
    (root): ReadonlyMap<string, TreeEntry> =>
      new Map(Option.isNone(root) ? [] : root.value.tree.entries.map((entry) => [entry.path, entry]))
  )

  const learn = Effect.gen(function* () {
    const since = yield* Clock.currentTimeMillis
    if (learnt !== undefined && since - learnt.since < believedFor) return learnt
    const head =
      remote.brings === true
        ? yield* source.headWith({ files: [path], trees: [options.root] })
        : Option.none<Head>()
    const entries = Option.isSome(head) ? yield* rootEntries(head.value) : yield* entriesByName
    const find: Effect.Effect<Option.Option<FileVersion>, ReadError> = Option.isSome(head)
      ? remote.file(head.value, path)
      : source.file(path)
    const file = entries.has(settingsFileName) ? yield* find : Option.none()
    const settings = yield* agreed(Option.isNone(file) ? absent : yield* judge(file.value))
    const special = new Set<string>()
    for (const [name, { kind }] of entries) if (kind !== "tree") special.add(name)
    for (const directory of settings.recorded ? [] : ["_index", "_manifest"]) {
      if (entries.has(directory)) for (const name of yield* namesIn(directory)) special.add(name)
    }
    believed = { settings, since }
    // The file was read after the directory: its own id says which settings were learnt.
    learnt = { settings, special, since, root: Option.isSome(file) ? file.value.oid : rootFiles(entries) }
    return learnt
  })

  const forget = Effect.sync(() => {
    believed = undefined
    learnt = undefined
  })

  const headOf = ({ commit, tree }: FileCommitted) =>
    Option.isSome(tree) ? Effect.succeedSome({ commit, tree: tree.value }) : remote.resolve(commit)

  const rootFilesAt = (made: FileCommitted) =>
    Effect.gen(function* () {
      const at = yield* headOf(made)
      const entries = Option.isSome(at) ? yield* rootEntries(at.value) : new Map()
      // Its root holds at least what was just put.
      if (entries.size === 0 && Option.isSome(made.blob)) return yield* unseen(made.commit)
      return rootFiles(entries)
    }).pipe(
      Effect.retry({ schedule: arriving, while: (error) => "reason" in error && error.reason === "Server" })
    )

  const changedAt: RepositorySettings["changedAt"] = (made, by) =>
    Effect.gen(function* () {
      const [parent] = made.parents ?? []
      const before = made.parents?.length === 0 ? noRootFiles : parent && seen.get(parent)
      const found = seen.set(made.commit, before ?? (yield* rootFilesAt(made)))
      if (found === by.root) return Option.none()
      if (found !== learnt?.root) yield* forget
      const head = yield* headOf(made)
      if (Option.isNone(head)) return yield* unseen(made.commit)
      return Option.some({ settings: yield* at(head), head: head.value })
    })

  return {
    at,
    now,
    rootEntries,
    latest: () => last?.settings ?? believed?.settings ?? absent,
    beliefs: () => ({ believed, learnt, seen }),
    changedAt,
    kept: (parent, commit) => {
      const before = Option.isNone(parent) ? undefined : seen.get(parent.value)
      if (before !== undefined) seen.set(commit, before)
    },
    alone: (collection) => {
      const isListed = ({ indexes, manifests }: Settings) =>
        (indexes.get(collection) ?? []).length > 0 || manifests.has(collection)
      return isListed(asked)
        ? Effect.succeedNone
        : Effect.map(learn, (now) =>
            isListed(now.settings.settings) || now.special.has(collection) ? Option.none() : Option.some(now)
          )
    },
    forget
  }
}
