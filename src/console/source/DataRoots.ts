import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { collectionNameProblem } from "../../domain/identifiers/CollectionName.js"
import type { RemoteSnapshot, TreeEntry } from "../../store/remote/GitRemote.js"
import type { RemoteFailure } from "../../store/remote/RemoteFailure.js"

/** A repository with more directories at its top is looked into no further. */
const maxDirectories = 40

/** Files and directories that only a data root has. */
const ownNames: ReadonlySet<string> = new Set(["_chainstore.json", "_index", "_manifest"])

const isCollection = ({ kind, path }: TreeEntry): boolean =>
  kind === "tree" && collectionNameProblem(path) === undefined

/**
 * The directories at the top of a repository that can be data roots: those with files that only a data root has, or
 * else those with directories that can be collections.
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
