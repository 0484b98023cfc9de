import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
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
import { ValidationError } from "../../domain/StoreError.js"
import type { ReadError } from "../Collection.js"
import { under } from "../DocumentPath.js"
import type { GitRemoteService, Head, TreeEntry } from "../GitRemote.js"
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
   * neither index nor manifest. Learnt from the root's directory, and believed for a minute where that costs requests.
   */
  readonly alone: (collection: string) => Effect.Effect<Option.Option<SettingsAt>, ReadError>
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
}

interface Learnt {
  readonly settings: SettingsAt
  /** Collections with an index or manifest file, where no settings file says which. */
  readonly derived: ReadonlySet<string>
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
  let last: { readonly root: string; readonly settings: SettingsAt } | undefined

  const treeOf = (head: Head | Oid) => (typeof head === "string" ? head : head.tree)

  const rootEntries = (head: Head | Oid) => {
    const known = roots.get(treeOf(head))
    if (known !== undefined) return Effect.succeed(known)
    return Effect.map(remote.tree(head, options.root), (tree) => {
      const entries = new Map(
        Option.isNone(tree) ? [] : tree.value.entries.map((entry) => [entry.path, entry])
      )
      // An id by which nothing is found may be a commit that has not arrived yet.
      return Option.isNone(tree) && typeof head === "string" ? entries : roots.set(treeOf(head), entries)
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
    const file = yield* source.file(path)
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

  const learn = Effect.gen(function* () {
    const since = yield* Clock.currentTimeMillis
    if (learnt !== undefined && since - learnt.since < believedFor) return learnt
    const root = yield* source.directory(options.root, false)
    const names = new Set(Option.isNone(root) ? [] : root.value.tree.entries.map((entry) => entry.path))
    const file = names.has(settingsFileName) ? yield* source.file(path) : Option.none()
    const settings = yield* agreed(Option.isNone(file) ? absent : yield* judge(file.value))
    const derived = new Set<string>()
    for (const directory of settings.recorded ? [] : ["_index", "_manifest"]) {
      if (names.has(directory)) for (const name of yield* namesIn(directory)) derived.add(name)
    }
    believed = { settings, since }
    learnt = { settings, derived, since }
    return learnt
  })

  return {
    at,
    now,
    rootEntries,
    latest: () => last?.settings ?? believed?.settings ?? absent,
    beliefs: () => ({ believed, learnt }),
    alone: (collection) =>
      Effect.map(learn, ({ derived, settings }) => {
        const { indexes, manifests } = settings.settings
        const listed = (indexes.get(collection) ?? []).length > 0 || manifests.has(collection)
        return listed || derived.has(collection) ? Option.none() : Option.some(settings)
      }),
    forget: Effect.sync(() => {
      believed = undefined
      learnt = undefined
    })
  }
}
