import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { collectionNameProblem } from "../../domain/identifiers/CollectionName.js"
import type { RemoteSnapshot, TreeEntry } from "../remote/GitRemote.js"
import type { RemoteFailure } from "../remote/RemoteFailure.js"

/** The maximum number of top-level directories that are searched. */
const maxDirectories = 40

/** Files and directories that mark a data root. */
const ownNames: ReadonlySet<string> = new Set(["_chainstore.json", "_index", "_manifest"])

const isCollection = ({ kind, path }: TreeEntry): boolean =>
  kind === "tree" && collectionNameProblem(path) === undefined

/**
 * The possible data roots of a repository: directories with a marker file, or else those that contain directories that
 * can be collections.
 */
export const findRoots = Effect.fn("Roots.find")(function* (snapshot: RemoteSnapshot) {
  const entriesOf = (path: string): Effect.Effect<ReadonlyArray<TreeEntry>, RemoteFailure> =>
    Effect.map(
      snapshot.directory(path),
      Option.match({ onNone: () => [], onSome: ({ tree }) => tree.entries })
    )
  const top = yield* entriesOf("")
  const below = yield* Effect.forEach(
    top.filter(isCollection).slice(0, maxDirectories),
    ({ path }) => Effect.map(entriesOf(path), (entries) => ({ root: path, entries })),
    { concurrency: 8 }
  )
  const all = [{ root: "", entries: top }, ...below]
  const marked = all.filter(({ entries }) => entries.some(({ path }) => ownNames.has(path)))
  const holding = marked.length > 0 ? marked : below.filter(({ entries }) => entries.some(isCollection))
  return holding.map(({ root }) => root)
})
