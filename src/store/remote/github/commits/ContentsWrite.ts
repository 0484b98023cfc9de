import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import {
  AmbiguousWriteError,
  type ConflictError,
  type ValidationError
} from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../../git/GitObject.js"
import { branchRef } from "../../../../git/Names.js"
import { notAFile } from "../../../../git/TreeEdit.js"
import { sameMark, withMark } from "../../CommitMark.js"
import type { CommitText, CreatedCommit } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { type ApiFailure, isKind, isMissing, isUnknownCommit } from "../client/ApiFailure.js"
import type { CallFailure, Client, Reply } from "../client/Client.js"
import { fileConflict } from "../client/ErrorTranslation.js"
import { Proof, writeOnce } from "../client/LostReply.js"
import { timeLeft } from "../client/OperationContext.js"
import { afterRace, retryStaleReply } from "../client/Retry.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import { encodeBase64 } from "../objects/Base64.js"

type Failure = CallFailure | ConflictError | ValidationError | AmbiguousWriteError | RefMoved

/** A request of the Contents API: one commit of one file, with the blob of the file as the precondition. */
export interface ContentsWrite {
  readonly operation: string
  readonly branch: string
  readonly path: string
  /** None deletes the file. */
  readonly content: Option.Option<Uint8Array>
  readonly expected: Option.Option<Oid>
  readonly text: CommitText
}

type Answer = typeof Api.putContent.reply.Type

const blobsOf = (path: string, blob: Option.Option<Oid>): ReadonlyMap<string, Oid> =>
  new Map(Option.isSome(blob) ? [[path, blob.value]] : [])

const written = ({ path }: ContentsWrite, reply: Reply<Answer>): CreatedCommit => {
  const { commit, content } = Option.getOrThrow(reply.value)
  return {
    commit: commit.sha,
    tree: Option.fromNullable(commit.tree?.sha),
    parents: commit.parents?.map((parent) => parent.sha),
    blobs: blobsOf(path, Option.fromNullable(content?.sha))
  }
}

const madeBy = ({ content, path }: ContentsWrite, commit: Api.Commit): CreatedCommit => ({
  commit: commit.sha,
  tree: Option.some(commit.commit.tree.sha),
  parents: commit.parents.map((parent) => parent.sha),
  blobs: blobsOf(
    path,
    Option.map(content, (bytes) => GitObject.hash("blob", bytes))
  )
})

const same = (a: Option.Option<Oid>, b: Option.Option<Oid>) =>
  Option.getOrUndefined(a) === Option.getOrUndefined(b)

/** A lost race is retried while the operation has this much time left. */
const enoughTime = Effect.map(timeLeft, (left) => left > 2_000)

/** How many commits of the path are searched for the mark of this write. */
const maxSearched = 20

/** How many commits of the path one check reads the file of. The next check goes further back. */
const maxCompared = 5

interface Made extends CreatedCommit {
  /** The file had been deleted, and the request created it again in spite of its precondition. */
  readonly recreated: boolean
}

type Refused = ConflictError | ValidationError

/** The update did not happen, and the file that it created could not be removed. */
const createdAgain = (write: ContentsWrite, made: CreatedCommit, cause: { readonly message: string }) =>
  new AmbiguousWriteError({
    operation: write.operation,
    path: write.path,
    message: `${write.path} had been deleted, this update created it again in commit ${made.commit}, and removing it failed: ${cause.message}`,
    hint: `delete ${write.path} once the repository can be written, or keep it as it is`,
    cause
  })

const createdAndRemoved = (write: ContentsWrite, made: CreatedCommit, cause: { readonly message: string }) =>
  new AmbiguousWriteError({
    operation: write.operation,
    path: write.path,
    message: `${write.path} had been deleted, this update created it again in commit ${made.commit} and removed it, and whether the update was done before the deletion could not be told: ${cause.message}`,
    hint: "read the document before writing it again",
    cause
  })

const markedText = (text: CommitText) =>
  Effect.map(withMark(text.message), (message) => ({ ...text, message }))

export const makeContentsWrite = (
  client: Client,
  branchHeads: Pick<BranchHeads, "lastWrittenBlob" | "now" | "recordFileWrite" | "recordMove" | "wasReplaced">
) => {
  const { settings } = client

  const send = (write: ContentsWrite): Effect.Effect<Reply<Answer>, CallFailure> => {
    const body = {
      message: write.text.message,
      branch: write.branch,
      sha: Option.getOrUndefined(write.expected),
      committer: write.text.committer ?? settings.committer,
      author: write.text.author ?? settings.author
    }
    const path = { path: write.path }
    return Option.match(write.content, {
      onNone: () =>
        client.call(Api.deleteContent, { path, body: { ...body, sha: Option.getOrThrow(write.expected) } }),
      onSome: (content) =>
        client.call(Api.putContent, { path, body: { ...body, content: encodeBase64(content) } })
    })
  }

  /** The blob at a path of a commit that exists. The id of a submodule is added to `submodules`. */
  const blobAt = (
    path: string,
    commit: Oid,
    submodules = new Set<Oid>()
  ): Effect.Effect<Option.Option<Oid>, CallFailure> =>
    retryStaleReply(
      client.call(Api.getContent, { path: { path }, query: { ref: commit } }),
      isUnknownCommit
    ).pipe(
      Effect.map((reply) =>
        Option.flatMap(reply.value, (file) => {
          if ("length" in file) return Option.none()
          if (file.type === "submodule") submodules.add(file.sha)
          return Option.some(file.sha)
        })
      ),
      Effect.catchIf(
        (error) => isMissing(error) && !isUnknownCommit(error),
        () => Effect.succeedNone
      )
    )

  const commitsOf = (
    write: ContentsWrite,
    at: string
  ): Effect.Effect<ReadonlyArray<Api.Commit>, CallFailure> =>
    Effect.map(
      client.call(Api.listCommits, { path: {}, query: { sha: at, path: write.path, per_page: maxSearched } }),
      (reply) => Option.getOrElse(reply.value, () => [])
    )

  /** Whether an update created a deleted file again: the parent of its commit lacks the file. */
  const wasRecreated = (write: ContentsWrite, made: CreatedCommit): Effect.Effect<boolean, CallFailure> => {
    const parent = made.parents?.[0]
    return parent === undefined || Option.isNone(write.content) || Option.isNone(write.expected)
      ? Effect.succeed(false)
      : Effect.map(blobAt(write.path, parent), Option.isNone)
  }

  /**
   * Searches the history of the path for a commit with the mark of this write. A commit with the mark proves that the write
   * happened. After a lost reply a missing mark proves nothing. After a refusal it proves that the write did not happen if the
   * history contains the expected version and the version that caused the refusal: then the replica is not stale. `seen`:
   * the versions of the file in commits, shared by all checks of one write.
   */
  const check = (
    write: ContentsWrite,
    seen: Map<Oid, Option.Option<Oid>>,
    refusal: ConflictError,
    lost: boolean,
    { kind }: ApiFailure
  ): Effect.Effect<Proof<Made, Refused>, CallFailure> =>
    Effect.gen(function* () {
      const commits = yield* Effect.catchIf(commitsOf(write, write.branch), isMissing, () =>
        Effect.succeed([])
      )
      const ours = commits.find(({ commit }) => sameMark(commit.message, write.text.message))
      if (ours !== undefined) {
        const created = madeBy(write, ours)
        return Proof.done({ ...created, recreated: yield* wasRecreated(write, created) })
      }
      if (lost) return Proof.stale()
      const own = yield* branchHeads.lastWrittenBlob(write.branch, write.path)
      let isOld = false
      let isSeen = kind !== "BlobMismatch"
      const most = seen.size + maxCompared
      const submodules = new Set<Oid>()
      for (const [index, { sha }] of commits.entries()) {
        if (!seen.has(sha) && seen.size === most) break
        const at = seen.get(sha) ?? (yield* blobAt(write.path, sha, submodules))
        seen.set(sha, at)
        if (index === 0) {
          if (same(at, write.expected)) return Proof.unchanged
          // A submodule is read as an absent file, so a retry would be refused again.
          if (Option.isNone(write.expected) && Option.exists(at, (oid) => submodules.has(oid)))
            return Proof.notDone(notAFile(write.operation, write.path, "commit"))
          isOld = yield* branchHeads.wasReplaced(write.branch, write.path, at)
        } else if (own !== undefined && same(at, own)) isOld = false
        isSeen ||= Option.isSome(at) && !same(at, write.expected)
        // A version after the own one is new, even if it equals an older version.
        const isKnown = Option.isNone(write.expected) || (index > 0 && same(at, write.expected))
        if (!isOld && isSeen && isKnown) return Proof.notDone(refusal)
      }
      return isSeen ? Proof.stale(refusal) : Proof.stale()
    })

  const attempt = (write: ContentsWrite): Effect.Effect<CreatedCommit, Failure> => {
    const isUpdate = Option.isSome(write.content) && Option.isSome(write.expected)
    const conflict = (actual?: null) => fileConflict(write, Option.getOrUndefined(write.expected), actual)
    const isGone = ({ kind, message }: ApiFailure) =>
      kind === "Missing" && Option.isNone(write.content) && !/branch/i.test(message)
    const seen = new Map<Oid, Option.Option<Oid>>()
    const made = writeOnce<Made, Refused>(settings, {
      context: write,
      send: send(write).pipe(
        Effect.retry({
          schedule: afterRace,
          while: (error) =>
            error._tag === "ApiFailure" && error.kind === "RefRace" ? enoughTime : Effect.succeed(false)
        }),
        Effect.map((reply) => ({ ...written(write, reply), recreated: isUpdate && reply.status === 201 }))
      ),
      check: (lost, failure) =>
        check(write, seen, Option.isNone(write.content) ? conflict(null) : conflict(), lost, failure),
      onRefusal: (failure) => {
        if (failure.kind === "RefRace") return { check: "never", otherwise: conflict() }
        const isDoubtful =
          failure.kind === "ShaMissing" ||
          failure.kind === "BlobMismatch" ||
          failure.kind === "Conflict" ||
          isGone(failure)
        return { check: isDoubtful ? "whileReplicasLag" : "never" }
      }
    })
    return Effect.flatMap(branchHeads.now, (begun) =>
      Effect.flatMap(made, ({ recreated, ...commit }) =>
        recreated ? undo(write, commit, begun) : Effect.succeed(commit)
      )
    )
  }

  /**
   * Removes a file that an update created again. If the path was deleted, GitHub ignores the precondition of the update and
   * creates the file. If an earlier delivery of the request had updated the file before the deletion, the update succeeded.
   */
  const undo = (
    write: ContentsWrite,
    made: CreatedCommit,
    sent: number
  ): Effect.Effect<CreatedCommit, Failure> =>
    Effect.gen(function* () {
      // A stale replica would show the parent of this commit as the head.
      const parent = Option.fromNullable(made.parents?.[0])
      if (Option.isSome(parent)) yield* branchHeads.recordMove(write.branch, parent, made, sent)
      const removal = {
        ...write,
        content: Option.none(),
        expected: Option.fromNullable(made.blobs.get(write.path)),
        text: yield* markedText({
          ...write.text,
          message: `Remove ${write.path} again: it was deleted before this update`
        })
      }
      const begun = yield* branchHeads.now
      yield* attempt(removal).pipe(
        // A stale replica would show the removed file to the next attempt.
        Effect.flatMap((gone) =>
          Effect.zipRight(
            branchHeads.recordFileWrite(write.branch, write.path, removal.expected, Option.none(), begun),
            branchHeads.recordMove(write.branch, Option.some(made.commit), gone, begun)
          )
        ),
        Effect.catchTag("ConflictError", () => Effect.void),
        Effect.catchIf(isKind("Missing"), () => Effect.void),
        Effect.mapError((cause) => createdAgain(write, made, cause))
      )
      const history = yield* retryStaleReply(commitsOf(write, made.commit), isMissing).pipe(
        Effect.mapError((cause) => createdAndRemoved(write, made, cause))
      )
      const earlier = history.find(
        ({ commit, sha }) => sha !== made.commit && sameMark(commit.message, write.text.message)
      )
      if (earlier !== undefined) return madeBy(write, earlier)
      return yield* new RefMoved({
        ref: branchRef(write.branch),
        expected: Option.none(),
        actual: Option.fromNullable(made.parents?.[0])
      })
    })

  return (write: ContentsWrite): Effect.Effect<CreatedCommit, Failure> =>
    Effect.flatMap(markedText(write.text), (text) => attempt({ ...write, text }))
}
