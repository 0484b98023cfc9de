import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeExclusively } from "../../../domain/Mutex.js"
import type { Oid } from "../../../domain/Oid.js"
import { RefMoved } from "../../../domain/Ref.js"
import { NotFoundError, ValidationError } from "../../../domain/StoreError.js"
import * as Timestamp from "../../../domain/Timestamp.js"
import { messageOf } from "../../../git/GitObject.js"
import { headOf } from "../../../git/memory/MemoryLog.js"
import type { MemoryRepository } from "../../../git/memory/MemoryRepository.js"
import { applyChanges } from "../../../git/memory/MemoryTree.js"
import { branchError, branchRef, commitTextError } from "../../../git/Names.js"
import type { Committed, GitRemoteService, Head, NewCommit } from "../GitRemote.js"
import { type CommitReads, snapshotOf } from "../RemoteSnapshot.js"
import type { MemoryFaults, WritePoint } from "./MemoryFaults.js"

const nobody = { name: "Chainstore", email: "chainstore@localhost" }

export const refName = branchRef

export const headNow = (repository: MemoryRepository, branch: string): Option.Option<Head> =>
  Option.map(
    Option.flatMapNullable(Option.fromNullable(repository.refs.get(refName(branch))), (oid) =>
      repository.commits.get(oid)
    ),
    headOf
  )

const checkBranch = (operation: string, branch: string) =>
  Effect.suspend(() => branchError(operation, branch) ?? Effect.void)

/** Makes the commit's objects; the branch is not moved. */
const build = (
  repository: MemoryRepository,
  parent: Option.Option<Head>,
  commit: NewCommit,
  millis: number
) => {
  const wrong = commitTextError("GitRemote.commit", commit)
  if (wrong !== undefined) return wrong
  const absent = commit.changes.find((change) => change._tag === "Link" && !repository.blobs.has(change.oid))
  if (absent !== undefined) {
    return new ValidationError({
      operation: "GitRemote.commit",
      path: absent.path,
      message: `${absent.path}: the blob to link is not in ${repository.name}`
    })
  }
  const base = Option.getOrUndefined(parent)
  const tree = applyChanges(
    repository,
    base?.tree,
    commit.changes,
    (entries) => repository.writeTree(entries),
    (content) => repository.writeBlob(content)
  )
  if (tree instanceof ValidationError) return tree
  const person = (signature = nobody) => ({ ...signature, seconds: Math.floor(millis / 1000), offset: 0 })
  const author = person(commit.author)
  const written = repository.writeCommit({
    tree,
    parents: base === undefined ? [] : [base.commit],
    author,
    committer: commit.committer === undefined ? author : person(commit.committer),
    message: messageOf(commit.message)
  })
  const puts = commit.changes.filter((change) => change._tag === "Put")
  const blobs = new Map(puts.map((change) => [change.path, repository.lookup(tree, change.path)!.oid]))
  return { ...headOf(written), blobs } satisfies Committed
}

const sameHead = (a: Option.Option<Head>, b: Option.Option<Head>) =>
  Option.getOrUndefined(a)?.commit === Option.getOrUndefined(b)?.commit

/** The writing half of a remote in memory: each one has its own turns, and all of them meet at the refs. */
export const makeWrites = (
  repository: MemoryRepository,
  reads: CommitReads,
  onWrite: MemoryFaults["onWrite"]
) => {
  const exclusively = makeExclusively()
  const step = (operation: string, point: WritePoint, branch: string) =>
    onWrite === undefined ? Effect.void : onWrite(operation, point, branch)

  const moved = (branch: string, expected: Option.Option<Oid>) =>
    new RefMoved({
      ref: refName(branch),
      expected,
      actual: Option.map(headNow(repository, branch), (head) => head.commit)
    })
  const commitOn = (operation: string, branch: string, expected: Option.Option<Head>, commit: NewCommit) =>
    Effect.gen(function* () {
      const millis = yield* Timestamp.now(operation)
      const committed = build(repository, expected, commit, millis)
      if (committed instanceof ValidationError) return yield* committed
      yield* step(operation, "moving", branch)
      yield* Effect.suspend(() => {
        if (!sameHead(headNow(repository, branch), expected)) {
          return moved(
            branch,
            Option.map(expected, (head) => head.commit)
          )
        }
        repository.refs.set(refName(branch), committed.commit)
        return Effect.void
      })
      yield* step(operation, "moved", branch)
      return committed
    })

  const commit: GitRemoteService["commit"] = (branch, expected, newCommit) =>
    checkBranch("GitRemote.commit", branch).pipe(
      Effect.zipRight(step("commit", "start", branch)),
      Effect.zipRight(
        Effect.suspend(() =>
          sameHead(headNow(repository, branch), expected)
            ? Effect.void
            : moved(
                branch,
                Option.map(expected, (head) => head.commit)
              )
        )
      ),
      Effect.zipRight(step("commit", "built", branch)),
      Effect.zipRight(commitOn("commit", branch, expected, newCommit))
    )

  const commitNext: GitRemoteService["commitNext"] = (branch, edit) =>
    checkBranch("GitRemote.commitNext", branch).pipe(
      Effect.zipRight(step("commitNext", "start", branch)),
      Effect.zipRight(
        exclusively(branch)(
          Effect.gen(function* () {
            const head = headNow(repository, branch)
            const built = yield* edit(snapshotOf(reads, head))
            if (Option.isNone(built.commit)) return { committed: Option.none(), result: built.result }
            yield* step("commitNext", "built", branch)
            const committed = yield* commitOn("commitNext", branch, head, built.commit.value)
            return { committed: Option.some(committed), result: built.result }
          })
        )
      )
    )

  const missing = (operation: string, oid: Oid) =>
    new NotFoundError({ operation, message: `${oid} is not a commit of ${repository.name}` })

  const createBranch: GitRemoteService["createBranch"] = (branch, at) =>
    checkBranch("GitRemote.createBranch", branch).pipe(
      Effect.zipRight(step("createBranch", "start", branch)),
      Effect.zipRight(
        Effect.suspend((): Effect.Effect<void, RefMoved | NotFoundError> => {
          if (repository.refs.has(refName(branch))) return moved(branch, Option.none())
          if (!repository.commits.has(at)) return missing("GitRemote.createBranch", at)
          repository.refs.set(refName(branch), at)
          return Effect.void
        })
      ),
      Effect.zipRight(step("createBranch", "moved", branch))
    )

  const advance: GitRemoteService["advance"] = (branch, from, to) =>
    step("advance", "start", branch).pipe(
      Effect.zipRight(step("advance", "moving", branch)),
      Effect.zipRight(
        Effect.suspend((): Effect.Effect<void, RefMoved | NotFoundError> => {
          if (repository.refs.get(refName(branch)) !== from) return moved(branch, Option.some(from))
          if (!repository.commits.has(to)) return missing("GitRemote.advance", to)
          if (!repository.isAncestor(from, to)) return moved(branch, Option.some(from))
          repository.refs.set(refName(branch), to)
          return Effect.void
        })
      ),
      Effect.zipRight(step("advance", "moved", branch))
    )

  const moveBranches: NonNullable<GitRemoteService["moveBranches"]> = (moves) =>
    Effect.forEach(moves, ({ branch }) => checkBranch("GitRemote.moveBranches", branch), {
      discard: true
    }).pipe(
      Effect.zipRight(step("moveBranches", "moving", moves[0]?.branch ?? "")),
      Effect.zipRight(
        Effect.suspend((): Effect.Effect<void, RefMoved | NotFoundError> => {
          for (const { branch, from, to } of moves) {
            const before = Option.getOrUndefined(from)
            const after = Option.getOrUndefined(to)
            if (repository.refs.get(refName(branch)) !== before) return moved(branch, from)
            if (after === undefined) continue
            if (!repository.commits.has(after)) return missing("GitRemote.moveBranches", after)
            if (before !== undefined && !repository.isAncestor(before, after)) return moved(branch, from)
          }
          for (const { branch, to } of moves) {
            if (Option.isSome(to)) repository.refs.set(refName(branch), to.value)
            else repository.refs.delete(refName(branch))
          }
          return Effect.void
        })
      ),
      Effect.zipRight(step("moveBranches", "moved", moves[0]?.branch ?? ""))
    )

  return { commit, commitNext, createBranch, advance, moveBranches }
}
