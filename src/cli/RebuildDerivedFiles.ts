import { FileSystem, Path } from "@effect/platform"
import { Effect, Exit, Option } from "effect"
import { ConflictError, RemoteError } from "../domain/errors/StoreError.js"
import { parseSettings, settingsFileName } from "../domain/settings/Settings.js"
import { Store } from "../store/Store.js"
import { StoreOpener } from "./Connection.js"
import { git, gitSearch } from "./GitClone.js"

const derived = ["_index", "_manifest"] as const

/** Without this option, Git reads paths as patterns. */
const literal = "--literal-pathspecs"

const under = (root: string, ...names: ReadonlyArray<string>) =>
  [root, ...names].filter((part) => part !== "").join("/")

interface Unmerged {
  readonly stage: string
  readonly entry: string
  readonly path: string
}

/** The files of Git's index in some directories. An unmerged file occurs more than once. */
const filesIn = (clone: string, folders: ReadonlyArray<string>) =>
  Effect.map(git(clone, literal, "ls-files", "-z", "--full-name", "--", ...folders), (text) =>
    text.split("\0").filter((path) => path !== "")
  )

/** Restores the current state of Git's index if the scope fails. */
const restoreIndexOnFailure = (clone: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const { dirname, join, resolve } = yield* Path.Path
    const index = resolve(clone, (yield* git(clone, "rev-parse", "--git-path", "index")).trim())
    if (!(yield* files.exists(index))) return
    // In the same directory as the index, so that a rename can replace it.
    const directory = yield* files.makeTempDirectoryScoped({
      directory: dirname(index),
      prefix: "chainstore-resolve-"
    })
    const copy = join(directory, "index")
    yield* files.copyFile(index, copy)
    yield* Effect.addFinalizer((exit) =>
      Exit.isFailure(exit) ? Effect.ignoreLogged(files.rename(copy, index)) : Effect.void
    )
  })

/** The unmerged entries of Git's index, with their stages. */
const unmergedIn = (clone: string) =>
  Effect.map(git(clone, "ls-files", "-u", "-z", "--full-name", ":/"), (text) =>
    text
      .split("\0")
      .filter((line) => line !== "")
      .map((line): Unmerged => {
        const [about = "", path = ""] = line.split("\t", 2)
        const [mode, oid, stage = ""] = about.split(" ")
        return { stage, entry: `${mode},${oid}`, path }
      })
  )

/** The staged documents with conflict markers. No line of a JSON text begins with one. */
const filesWithMarkers = (clone: string, root: string) =>
  Effect.map(
    gitSearch(
      clone,
      ...["grep", "--cached", "-z", "-l", "-E", "^(<<<<<<< |>>>>>>> )", "--"],
      root === "" ? ":/" : `:(top,literal)${root}`
    ),
    (text) => text.split("\0").filter((path) => path.endsWith(".json"))
  )

/** Stages one version of each unmerged file. Either version will do, because the files are rebuilt. */
const settle = (clone: string, unmerged: ReadonlyArray<Unmerged>) =>
  Effect.forEach(
    new Map(unmerged.map((one) => [one.path, one])),
    ([path]) => {
      const sides = unmerged.filter((one) => one.path === path && one.stage !== "1")
      const [side] = sides
      return Effect.zipRight(
        git(clone, literal, "rm", "-q", "--cached", "--ignore-unmatch", "--", path),
        side === undefined
          ? Effect.void
          : git(clone, "update-index", "--add", "--cacheinfo", `${side.entry},${path}`)
      )
    },
    { discard: true }
  )

/** The format of indexes and manifests, from the settings in Git's index. */
const formatIn = (clone: string, root: string) =>
  Effect.map(Effect.option(git(clone, "cat-file", "blob", `:${under(root, settingsFileName)}`)), (text) =>
    Option.match(
      Option.flatMap(text, (found) => Option.getRight(parseSettings(new TextEncoder().encode(found)))),
      { onNone: () => 1, onSome: ({ settings }) => settings.format }
    )
  )

/** The collections with files in `_index` and `_manifest`. */
const collectionsIn = (root: string, paths: string): ReadonlyArray<string> => {
  const start = root === "" ? "" : `${root}/`
  const names = paths
    .split("\0")
    .filter((path) => path.startsWith(start))
    .map((path) =>
      path
        .slice(start.length)
        .split("/")[1]
        ?.replace(/\.json$/, "")
    )
  return [...new Set(names.filter((name) => name !== undefined))].sort()
}

/**
 * Rebuilds the indexes and manifests for the documents in Git's index, and stages them. The rebuild runs in a temporary
 * repository that uses the objects of the clone as an alternate. Fails if a document is unmerged or contains conflict
 * markers.
 */
export const rebuildDerivedFiles = (clone: string, root: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { join, resolve } = yield* Path.Path
      const top = (yield* git(clone, "rev-parse", "--show-toplevel")).trim()
      const folders = derived.map((name) => under(root, name))
      const isDerived = ({ path }: Pick<Unmerged, "path">) =>
        folders.some((folder) => path.startsWith(`${folder}/`))
      const unmerged = yield* unmergedIn(top)
      const marked = (yield* filesWithMarkers(top, root)).map((path) => ({ path }))
      const open = new Set([...unmerged, ...marked].filter((one) => !isDerived(one)).map(({ path }) => path))
      if (open.size > 0) {
        return yield* new ConflictError({
          operation: "resolve",
          message: `not merged yet: ${[...open].join(", ")}`,
          hint: "edit these files, git add them, and run resolve again",
          conflicts: []
        })
      }
      const before = yield* filesIn(top, folders)
      yield* restoreIndexOnFailure(top)
      yield* settle(top, unmerged)
      const format = yield* formatIn(top, root)
      // A merged tree of format 2 has nodes of different versions, so it is rebuilt completely.
      if (format === 2) {
        yield* git(top, literal, "rm", "-r", "-q", "-f", "--cached", "--ignore-unmatch", "--", ...folders)
      }
      const tree = (yield* git(top, "write-tree")).trim()
      const identity = ["-c", "user.name=chainstore", "-c", "user.email=chainstore@localhost"]
      const commit = (yield* git(top, ...identity, "commit-tree", "-m", "resolve", tree)).trim()
      const directory = yield* files.makeTempDirectoryScoped({ prefix: "chainstore-resolve-" })
      const bare = join(directory, "local", "resolve.git")
      yield* git(top, "init", "-q", "--bare", bare)
      const objects = (yield* git(top, "rev-parse", "--git-path", "objects")).trim()
      yield* files.writeFileString(join(bare, "objects", "info", "alternates"), `${resolve(top, objects)}\n`)
      yield* git(bare, "update-ref", "refs/heads/main", commit)
      const stores = yield* StoreOpener
      yield* Effect.flatMap(Store, (store) => store.reindex()).pipe(
        Effect.provide(
          stores.open(
            { _tag: "Local", repo: "local/resolve", branch: "main", root, layout: {}, directory },
            "fail"
          )
        )
      )
      yield* git(top, "fetch", "-q", "--no-write-fetch-head", bare, "refs/heads/main")
      const rebuilt = (yield* git(bare, "rev-parse", "refs/heads/main")).trim()
      for (const folder of folders) {
        yield* git(top, literal, "rm", "-r", "-q", "-f", "--ignore-unmatch", "--", folder)
        const isThere = (yield* git(top, literal, "ls-tree", "--name-only", rebuilt, "--", folder)) !== ""
        if (isThere) yield* git(top, literal, "checkout", "-q", rebuilt, "--", folder)
      }
      // Git does not remove files of the work tree that are no longer in its index.
      const now = new Set(yield* filesIn(top, folders))
      yield* Effect.forEach(
        before.filter((path) => !now.has(path)),
        (path) => files.remove(join(top, path), { force: true }),
        { discard: true }
      )
      return collectionsIn(
        root,
        yield* git(top, "ls-tree", "-r", "-z", "--name-only", rebuilt, "--", ...folders)
      )
    })
  ).pipe(
    Effect.catchTags({
      BadArgument: (error) => fileError(error.message),
      SystemError: (error) => fileError(error.message)
    })
  )

const fileError = (message: string) => new RemoteError({ operation: "resolve", reason: "Denied", message })
