import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { completeOnceStarted } from "../../../../domain/concurrency/DaemonFiber.js"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import { AmbiguousWriteError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { branchRef } from "../../../../git/Names.js"
import type { Change, CommitText, CreatedCommit, Head, NewCommit } from "../../GitRemote.js"
import type { Client } from "../client/Client.js"
import type { ErrorContext } from "../client/ErrorTranslation.js"
import type { CommitObjects } from "../heads/CommitObjects.js"
import type { RefWrites } from "../refs/RefWrites.js"
import type { CommitFailure } from "./CommitFailure.js"
import type { ContentsWrite } from "./ContentsWrite.js"
import type { GitDataCommit } from "./GitDataCommit.js"

interface Dependencies {
  readonly client: Client
  readonly commits: CommitObjects
  readonly refs: RefWrites
  readonly writeFile: (write: ContentsWrite) => Effect.Effect<CreatedCommit, CommitFailure>
  readonly gitData: GitDataCommit
}

type Put = Change & { readonly _tag: "Put" }

/** The file of the first commit if the caller's commit has several files and none of them is the settings file. */
const placeholder: Put = {
  _tag: "Put",
  path: ".chainstore",
  content: new TextEncoder().encode("first commit\n")
}

/** The message of that commit. The caller's message belongs to the commit with all files. */
const placeholderMessage = "first commit of an empty repository"

const isPut = (change: Change | undefined): change is Put => change?._tag === "Put"

/** The first commit of a branch that does not exist yet, also in an empty repository. */
export const makeFirstCommit = ({ client, commits, gitData, refs, writeFile }: Dependencies) => {
  const { settings } = client

  const moved = (branch: string, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: branchRef(branch), expected: Option.none(), actual })

  const put = (branch: string, text: CommitText, { content, path }: Put) =>
    writeFile({
      operation: "GitRemote.commit",
      branch,
      path,
      content: Option.some(content),
      expected: Option.none(),
      text
    })

  const remove = (
    branch: string,
    text: CommitText,
    { path }: Change,
    created: CreatedCommit,
    reason: string
  ) =>
    writeFile({
      operation: "GitRemote.commit",
      branch,
      path,
      content: Option.none(),
      expected: Option.fromNullable(created.blobs.get(path)),
      text: { ...text, message: `Remove ${path} again: ${reason}` }
    })

  /** Another client created the first commit, and the file was added to its branch: the file is removed. */
  const lostRace = (
    context: ErrorContext,
    branch: string,
    commit: NewCommit,
    file: Put,
    created: CreatedCommit
  ) =>
    Effect.gen(function* () {
      yield* remove(branch, commit, file, created, "the branch had begun elsewhere").pipe(
        Effect.catchTag("ConflictError", () => Effect.void),
        Effect.mapError(
          (cause) =>
            new AmbiguousWriteError({
              ...context,
              path: file.path,
              message: `the branch ${branch} had begun elsewhere, this commit put ${file.path} there in ${created.commit}, and removing it failed: ${cause.message}`,
              hint: `delete ${file.path} once the repository can be written, then write again`,
              cause
            })
        )
      )
      return yield* moved(branch, yield* refs.read(branch))
    })

  /** In an empty repository GitHub accepts only the write of one file by the Contents API. */
  const inEmptyRepository = (
    context: ErrorContext,
    branch: string,
    commit: NewCommit
  ): Effect.Effect<Head, CommitFailure> =>
    Effect.gen(function* () {
      const [only] = commit.changes
      const isWhole =
        commit.changes.length === 1 && isPut(only) && only.content.length <= settings.contentsMaxBytes
      const settingsFile = commit.changes
        .filter(isPut)
        .find(({ path }) => /(^|\/)_chainstore\.json$/.test(path))
      const file = isWhole ? only : (settingsFile ?? placeholder)
      const text = isWhole ? commit : { ...commit, message: placeholderMessage }
      const created = yield* put(branch, text, file).pipe(
        Effect.catchTag("ConflictError", () =>
          Effect.flatMap(refs.read(branch), (at) => Effect.fail(moved(branch, at)))
        )
      )
      if (created.parents?.length !== 0) return yield* lostRace(context, branch, commit, file, created)
      const tree = Option.isSome(created.tree)
        ? created.tree.value
        : (yield* commits.getExisting(created.commit)).tree.sha
      const root: Head = { commit: created.commit, tree }
      if (isWhole) return root
      const others = commit.changes.filter((change) => change !== file)
      const isPlaceholder = file === placeholder
      const changes: ReadonlyArray<Change> = isPlaceholder
        ? [...others, { _tag: "Remove", path: file.path }]
        : others
      const second = gitData.commit(context, branch, root, { ...commit, changes })
      return yield* isPlaceholder
        ? Effect.tapError(second, () =>
            Effect.ignore(remove(branch, commit, file, created, "the commit was refused"))
          )
        : second
    }).pipe(completeOnceStarted)

  return (context: ErrorContext, branch: string, commit: NewCommit): Effect.Effect<Head, CommitFailure> =>
    refs.read(branch).pipe(
      Effect.flatMap((at): Effect.Effect<Head, CommitFailure> => {
        if (Option.isSome(at)) return Effect.fail(moved(branch, at))
        return Effect.tap(gitData.build(Option.none(), commit), (created) =>
          refs.create(context, branch, created.commit, true)
        )
      }),
      Effect.catchIf(
        (error) => error._tag === "ApiFailure" && error.kind === "EmptyRepository",
        () => inEmptyRepository(context, branch, commit)
      )
    )
}
