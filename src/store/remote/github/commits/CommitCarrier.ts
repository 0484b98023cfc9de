import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { completeOnceStarted } from "../../../../domain/concurrency/DaemonFiber.js"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import {
  AmbiguousWriteError,
  type ConflictError,
  type NotFoundError,
  type RemoteError,
  ValidationError
} from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../../git/GitObject.js"
import { changedPathsError, fileBlocksDirectory, notAFile } from "../../../../git/TreeEdit.js"
import { withMark } from "../../CommitMark.js"
import type { Change, CommitText, Committed, CreatedCommit, Head, NewCommit } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { ErrorContext } from "../client/ErrorTranslation.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import { touchedDirectories } from "../objects/ListingEdit.js"
import type { TreeReader } from "../objects/TreeReader.js"
import type { RefWrites } from "../refs/RefWrites.js"
import type { ContentsWrite } from "./ContentsWrite.js"
import { writeTree } from "./TreeWrites.js"

export type CommitFailure =
  | CallFailure
  | RefMoved
  | AmbiguousWriteError
  | ConflictError
  | NotFoundError
  | RemoteError
  | ValidationError

interface Parts {
  readonly client: Client
  readonly known: CachedTrees
  readonly refs: RefWrites
  readonly writeFile: (write: ContentsWrite) => Effect.Effect<CreatedCommit, CommitFailure>
  readonly viaGraphql: (
    place: ErrorContext,
    branch: string,
    expected: Head,
    commit: NewCommit
  ) => Effect.Effect<Head, CommitFailure>
  readonly existing: BranchHeads["existing"]
  readonly trees: TreeReader
}

/** The file that gives an empty repository its first commit when the commit itself has more than one. */
const placeholder = ".chainstore"

/** What that first commit says: the caller's message belongs to the one that holds it all. */
const beginning = "first commit of an empty repository"

/** What the mutation is seen to bear: about 40 MB of base64. */
const maxBytes = 25_000_000

/** Whether the mutation can carry a commit: it knows neither links, nor merges, nor authors, nor very large contents. */
const fitsGraphql = (commit: NewCommit) =>
  (commit.merges ?? []).length === 0 &&
  commit.author === undefined &&
  commit.committer === undefined &&
  commit.changes.length > 0 &&
  commit.changes.every(
    (change) => change._tag === "Remove" || (change._tag === "Put" && change.replacesSubmodule !== true)
  ) &&
  commit.changes.reduce((sum, change) => sum + (change._tag === "Put" ? change.content.length : 0), 0) <=
    maxBytes

/** One atomic commit, in the form that carries it. */
export const makeCommitCarriers = ({
  client,
  existing,
  known,
  refs,
  trees,
  viaGraphql,
  writeFile
}: Parts) => {
  const { settings } = client

  /**
   * GitHub replaces a file by a directory, a directory by a file, and a submodule by either, without an error. Such a change is
   * refused where the trees of the commit are known, or the path was read as a file.
   */
  const fileProblem = (
    base: Option.Option<Head>,
    changes: ReadonlyArray<Change>
  ): ValidationError | undefined => {
    if (Option.isNone(base)) return undefined
    const removed = new Set(changes.flatMap(({ _tag, path }) => (_tag === "Remove" ? [path] : [])))
    for (const path of touchedDirectories(changes.filter(({ _tag }) => _tag !== "Remove"))) {
      if (path === "" || removed.has(path)) continue
      const entry = Option.getOrUndefined(known.entryAt(base.value, path) ?? Option.none())
      if (entry !== undefined && entry.kind !== "tree") return fileBlocksDirectory("GitRemote.commit", path)
    }
    const isEmptied = (path: string) => [...removed].some((other) => other.startsWith(`${path}/`))
    for (const change of changes) {
      if (change._tag === "Remove") continue
      const kind = known.notAFile(base.value, change.path)
      const isReplaced =
        kind === "tree" ? isEmptied(change.path) : change._tag === "Link" || change.replacesSubmodule === true
      if (kind !== undefined && !isReplaced) return notAFile("GitRemote.commit", change.path, kind)
    }
    return undefined
  }

  const modeIn = (parent: Head | undefined) => {
    const turn = Effect.unsafeMakeSemaphore(1)
    return (path: string) =>
      Effect.gen(function* () {
        if (parent === undefined) return undefined
        // A directory that is not known is read, once for all that is removed from it.
        if (known.entryAt(parent, path) === undefined) {
          yield* trees.list(parent, path.slice(0, Math.max(path.lastIndexOf("/"), 0)), false)
        }
        return Option.getOrUndefined(known.entryAt(parent, path) ?? Option.none())?.mode
      }).pipe(turn.withPermits(1))
  }

  /** Tree and commit, on no branch yet. */
  const build = (base: Option.Option<Head>, commit: NewCommit): Effect.Effect<Head, CommitFailure> =>
    Effect.gen(function* () {
      const parent = Option.getOrUndefined(base)
      const tree = yield* writeTree(client, parent?.tree, modeIn(parent), commit.changes)
      const reply = yield* client.call(Api.createCommit, {
        path: {},
        body: {
          message: yield* withMark(commit.message),
          tree: tree ?? parent?.tree ?? (yield* emptyTreeOf()),
          parents: [...(parent === undefined ? [] : [parent.commit]), ...(commit.merges ?? [])],
          author: commit.author ?? settings.author,
          committer: commit.committer ?? settings.committer
        }
      })
      const made = Option.getOrThrow(reply.value)
      return { commit: made.sha, tree: made.tree.sha }
    })

  const emptyTreeOf = () =>
    Effect.fail(
      new ValidationError({ operation: "GitRemote.commit", message: "a first commit needs a file" })
    )

  const put = (branch: string, commit: NewCommit, change: Change & { readonly _tag: "Put" }) =>
    writeFile({
      operation: "GitRemote.commit",
      branch,
      path: change.path,
      content: Option.some(change.content),
      expected: Option.none(),
      text: commit
    })

  /** The file that began the branch, deleted again. */
  const takeBack = (
    branch: string,
    text: CommitText,
    { path }: Change,
    made: CreatedCommit,
    reason: string
  ) =>
    writeFile({
      operation: "GitRemote.commit",
      branch,
      path,
      content: Option.none(),
      expected: Option.fromNullable(made.blobs.get(path)),
      text: { ...text, message: `Remove ${path} again: ${reason}` }
    })

  const moved = (branch: string, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: `refs/heads/${branch}`, expected: Option.none(), actual })

  /** In an empty repository GitHub knows one write alone: a file by the Contents API. */
  const bootstrap = (
    place: ErrorContext,
    branch: string,
    commit: NewCommit
  ): Effect.Effect<Head, CommitFailure> =>
    Effect.gen(function* () {
      const [only] = commit.changes
      const alone =
        commit.changes.length === 1 &&
        only?._tag === "Put" &&
        only.content.length <= settings.contentsMaxBytes
          ? only
          : undefined
      const settingsFile = commit.changes.find(
        (change) => change._tag === "Put" && /(^|\/)_chainstore\.json$/.test(change.path)
      )
      const first: Change & { readonly _tag: "Put" } =
        alone ??
        (settingsFile?._tag === "Put"
          ? settingsFile
          : { _tag: "Put", path: placeholder, content: new TextEncoder().encode("first commit\n") })
      const text = alone === undefined ? { ...commit, message: beginning } : commit
      const made = yield* put(branch, text, first).pipe(
        Effect.catchTag("ConflictError", () =>
          Effect.flatMap(refs.read(branch), (at) => Effect.fail(moved(branch, at)))
        )
      )
      if (made.parents?.length !== 0) {
        // Somebody else was first, and the file landed on their branch: it is taken back.
        yield* takeBack(branch, commit, first, made, "the branch had begun elsewhere").pipe(
          Effect.catchTag("ConflictError", () => Effect.void),
          Effect.mapError(
            (cause) =>
              new AmbiguousWriteError({
                ...place,
                path: first.path,
                message: `the branch ${branch} had begun elsewhere, this commit put ${first.path} there in ${made.commit}, and removing it failed: ${cause.message}`,
                hint: `delete ${first.path} once the repository can be written, then write again`,
                cause
              })
          )
        )
        const at = yield* refs.read(branch)
        return yield* Effect.fail(moved(branch, at))
      }
      const tree = Option.isSome(made.tree) ? made.tree.value : (yield* existing(made.commit)).tree.sha
      const root: Head = { commit: made.commit, tree }
      if (alone !== undefined) return root
      const rest = commit.changes.filter((change) => change !== first)
      const changes: ReadonlyArray<Change> =
        first === settingsFile ? rest : [...rest, { _tag: "Remove", path: first.path }]
      const whole = Effect.tap(build(Option.some(root), { ...commit, changes }), (next) =>
        refs.move(place, branch, root.commit, next.commit)
      )
      const isPlaceholder = first !== settingsFile
      return yield* isPlaceholder
        ? Effect.tapError(whole, () =>
            Effect.ignore(takeBack(branch, commit, first, made, "the commit was refused"))
          )
        : whole
    }).pipe(completeOnceStarted)

  const first = (
    place: ErrorContext,
    branch: string,
    commit: NewCommit
  ): Effect.Effect<Head, CommitFailure> =>
    refs.read(branch).pipe(
      Effect.flatMap((at): Effect.Effect<Head, CommitFailure> => {
        if (Option.isSome(at)) return Effect.fail(moved(branch, at))
        return Effect.tap(build(Option.none(), commit), (made) =>
          refs.create(place, branch, made.commit, true)
        )
      }),
      Effect.catchIf(
        (error) => error._tag === "ApiFailure" && error.kind === "EmptyRepository",
        () => bootstrap(place, branch, commit)
      )
    )

  return (
    place: ErrorContext,
    branch: string,
    expected: Option.Option<Head>,
    commit: NewCommit
  ): Effect.Effect<Committed, CommitFailure> =>
    Effect.gen(function* () {
      const problem =
        changedPathsError("GitRemote.commit", commit.changes) ?? fileProblem(expected, commit.changes)
      if (problem !== undefined) return yield* Effect.fail(problem)
      const made = Option.isNone(expected)
        ? yield* first(place, branch, commit)
        : settings.commitVia === "graphql" && fitsGraphql(commit)
          ? yield* viaGraphql(place, branch, expected.value, commit)
          : yield* Effect.tap(build(expected, commit), (next) =>
              refs.move(place, branch, expected.value.commit, next.commit)
            )
      const blobs = new Map(
        commit.changes.flatMap((change) =>
          change._tag === "Put" ? [[change.path, GitObject.hash("blob", change.content)] as const] : []
        )
      )
      return { ...made, blobs }
    })
}
