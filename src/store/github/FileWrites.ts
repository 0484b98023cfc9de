import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { Oid } from "../../domain/Oid.js"
import { type AmbiguousWriteError, type ConflictError, NotFoundError } from "../../domain/StoreError.js"
import * as GitObject from "../GitObject.js"
import type { CommitText, FileCommitted } from "../GitRemote.js"
import { Bounded } from "../internal/Bounded.js"
import { toItsEnd } from "../internal/Detached.js"
import * as Api from "./Api.js"
import { type ApiFailure, isAmbiguous, isMissing, isUnheard } from "./ApiFailure.js"
import { encodeBase64 } from "./Base64.js"
import { timeLeft } from "./Call.js"
import type { CallFailure, Client, Reply } from "./Client.js"
import { marked, maybeSame, surelySame } from "./CommitMark.js"
import { patiently, raced, waitFor } from "./Retry.js"
import { ambiguous, fileConflict } from "./Translate.js"

type Failure = CallFailure | ConflictError | AmbiguousWriteError | NotFoundError

/** One file in one commit in one request, with the file's own blob as the precondition. */
export interface FileWrite {
  readonly operation: string
  readonly branch: string
  readonly path: string
  /** None deletes. */
  readonly content: Option.Option<Uint8Array>
  readonly expected: Option.Option<Oid>
  readonly text: CommitText
}

type Answer = typeof Api.putContent.reply.Type

const written = (reply: Reply<Answer>): FileCommitted => {
  const { commit, content } = Option.getOrThrow(reply.value)
  return {
    commit: commit.sha,
    tree: Option.fromNullable(commit.tree?.sha),
    blob: Option.map(Option.fromNullable(content), ({ sha }) => sha),
    parents: commit.parents?.map((parent) => parent.sha)
  }
}

const madeBy = (commit: Api.Commit, blob: Option.Option<Oid>): FileCommitted => ({
  commit: commit.sha,
  tree: Option.some(commit.commit.tree.sha),
  blob,
  parents: commit.parents.map((parent) => parent.sha)
})

const same = (a: Option.Option<Oid>, b: Option.Option<Oid>) =>
  Option.getOrUndefined(a) === Option.getOrUndefined(b)

/** A race is met again as long as the operation has a moment left. */
const enoughTime = Effect.map(timeLeft, (left) => left > 2_000)

/** Commits that a search for a lost write looks at. */
const searched = 20

export const makeFileWrites = (client: Client) => {
  const { settings } = client
  /** Updates as they were sent, the last ones that were refused. */
  const refusals = new Bounded<FileWrite>(32)

  const send = (write: FileWrite): Effect.Effect<Reply<Answer>, CallFailure> => {
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

  /** The blob at a path of a commit that the host has named. */
  const blobAt = (path: string, commit: Oid): Effect.Effect<Option.Option<Oid>, CallFailure> =>
    patiently(client.call(Api.getContent, { path: { path }, query: { ref: commit } }), isUnheard).pipe(
      Effect.map((reply) =>
        Option.flatMap(reply.value, (file) => ("length" in file ? Option.none() : Option.some(file.sha)))
      ),
      Effect.catchIf(
        (error) => isMissing(error) && !isUnheard(error),
        () => Effect.succeed(Option.none())
      )
    )

  /**
   * An insert of a file that is there, a deletion of one that is not, an update of what it would have made: the request may have come twice, by a proxy
   * that repeats what it has sent. Then the newest commit of the path bears our mark and made our blob.
   */
  const cameTwice = (write: FileWrite): Effect.Effect<Option.Option<FileCommitted>> =>
    Effect.gen(function* () {
      const ours = Option.map(write.content, (content) => GitObject.hash("blob", content))
      const reply = yield* client.call(Api.listCommits, {
        path: {},
        query: { sha: write.branch, path: write.path, per_page: 1 }
      })
      const newest = Option.getOrElse(reply.value, () => [])[0]
      if (newest === undefined || !surelySame(newest.commit.message, write.text.message)) return Option.none()
      const at = yield* blobAt(write.path, newest.sha)
      return same(at, ours) ? Option.some(madeBy(newest, ours)) : Option.none()
    }).pipe(Effect.catchAll(() => Effect.succeedNone))

  /**
   * A write whose reply was lost and whose repetition was refused: our blob, under our message, in the path's
   * history since the file was as expected. `Unknown` where the history does not reach back that far.
   */
  const search = (write: FileWrite): Effect.Effect<FileCommitted | "NotDone" | "Unknown", CallFailure> =>
    Effect.gen(function* () {
      const ours = Option.map(write.content, (content) => GitObject.hash("blob", content))
      const reply = yield* client.call(Api.listCommits, {
        path: {},
        query: { sha: write.branch, path: write.path, per_page: searched }
      })
      const commits = Option.getOrElse(reply.value, () => [])
      for (const [index, commit] of commits.entries()) {
        const at = yield* blobAt(write.path, commit.sha)
        if (same(at, ours) && maybeSame(commit.commit.message, write.text.message))
          return madeBy(commit, ours)
        if (same(at, write.expected)) return index === 0 ? "Unknown" : "NotDone"
      }
      return commits.length < searched && Option.isNone(write.expected) && commits.length > 0
        ? "NotDone"
        : "Unknown"
    })

  /** Whether an update that took effect made a file again that had vanished: what it stands on tells. */
  const madeAgain = (write: FileWrite, made: FileCommitted): Effect.Effect<boolean, CallFailure> => {
    const parent = made.parents?.[0]
    return parent === undefined || Option.isNone(write.content) || Option.isNone(write.expected)
      ? Effect.succeed(false)
      : Effect.map(blobAt(write.path, parent), Option.isNone)
  }

  /** Replicas may not know the write yet: the history is looked at again, a little later each time. */
  const seek = (write: FileWrite, tries: number): Effect.Effect<FileCommitted | "NotDone" | "Unknown"> =>
    search(write).pipe(
      Effect.catchAll(() => Effect.succeed("Unknown" as const)),
      Effect.flatMap((result) =>
        result !== "Unknown" || tries === 0
          ? Effect.succeed(result)
          : Effect.flatMap(enoughTime, (enough) =>
              enough
                ? Effect.zipRight(Effect.sleep(3_200 / 2 ** tries), seek(write, tries - 1))
                : Effect.succeed(result)
            )
      )
    )

  const found = (
    write: FileWrite,
    lost: ApiFailure,
    refusal: () => Effect.Effect<never, Failure>
  ): Effect.Effect<FileCommitted, Failure> =>
    seek(write, 5).pipe(
      Effect.flatMap(
        (result): Effect.Effect<FileCommitted, Failure> =>
          typeof result !== "string"
            ? Effect.flatMap(
                Effect.mapError(madeAgain(write, result), () => ambiguous(write, lost)),
                (again) => (again ? undo(write, result) : Effect.succeed(result))
              )
            : result === "NotDone"
              ? refusal()
              : Effect.fail(ambiguous(write, lost))
      )
    )

  const conflict = (write: FileWrite, actual?: null) =>
    Effect.fail(fileConflict(write, Option.getOrUndefined(write.expected), actual))

  const attempt = (
    write: FileWrite,
    count: number,
    lost: ApiFailure | undefined
  ): Effect.Effect<FileCommitted, Failure> =>
    send(write).pipe(
      Effect.retry({
        schedule: raced,
        while: (error) =>
          error._tag === "ApiFailure" && error.kind === "RefRace" ? enoughTime : Effect.succeed(false)
      }),
      Effect.flatMap((reply) => {
        const vanished = Option.isSome(write.content) && Option.isSome(write.expected) && reply.status === 201
        return vanished ? undo(write, written(reply)) : Effect.succeed(written(reply))
      }),
      Effect.catchAll((error): Effect.Effect<FileCommitted, Failure> => {
        if (error._tag !== "ApiFailure") {
          return lost === undefined ? Effect.fail(error) : found(write, lost, () => Effect.fail(error))
        }
        const refused = (reason: () => Effect.Effect<never, Failure>) =>
          lost === undefined ? reason() : found(write, lost, reason)
        const perhapsTwice = (reason: () => Effect.Effect<never, Failure>) =>
          lost === undefined
            ? Effect.flatMap(cameTwice(write), Option.match({ onNone: reason, onSome: Effect.succeed }))
            : found(write, lost, reason)
        switch (error.kind) {
          case "ShaMissing":
            return perhapsTwice(() => conflict(write))
          case "BlobMismatch":
            return refused(() => {
              refusals.set(refusalOf(write), write)
              return conflict(write)
            })
          case "Conflict":
          case "RefRace":
            return refused(() => conflict(write))
          case "Missing":
            return Option.isNone(write.content) && !/branch/i.test(error.message)
              ? perhapsTwice(() => conflict(write, null))
              : refused(() => Effect.fail(error))
          default:
            break
        }
        if (!isAmbiguous(error))
          return lost === undefined ? Effect.fail(error) : found(write, lost, () => Effect.fail(error))
        if (count >= settings.maxRetries) return found(write, error, () => Effect.fail(error))
        return Effect.flatMap(Random.next, (share) => {
          const delay = Duration.toMillis(settings.backoffFactor) * 2 ** count * share
          return Effect.flatMap(waitFor(settings, count, error, delay), (inTime) =>
            inTime ? attempt(write, count + 1, error) : found(write, error, () => Effect.fail(error))
          )
        })
      })
    )

  /** GitHub ignores the blob of an update whose path has vanished and makes the file again: it is taken back. */
  const undo = (write: FileWrite, made: FileCommitted): Effect.Effect<never, Failure> =>
    attempt(
      {
        ...write,
        content: Option.none(),
        expected: made.blob,
        text: { ...write.text, message: `Remove ${write.path} again: it was deleted before this update` }
      },
      0,
      undefined
    ).pipe(
      Effect.catchTag("ConflictError", () => Effect.void),
      Effect.zipRight(
        Effect.fail(
          new NotFoundError({
            operation: write.operation,
            path: write.path,
            message: `${write.path} was deleted by somebody else`,
            status: 201
          })
        )
      )
    )

  return {
    /** Runs to its end once sent: an update that made a vanished file again must be taken back. */
    write: (write: FileWrite): Effect.Effect<FileCommitted, Failure> =>
      Effect.flatMap(marked(write.text.message), (message) => {
        const once = attempt({ ...write, text: { ...write.text, message } }, 0, undefined)
        return Option.isSome(write.expected) && Option.isSome(write.content) ? toItsEnd(once) : once
      }),
    /** See `SingleFile.ours`. */
    ours: (branch: string, path: string, blob: Oid): Effect.Effect<Option.Option<FileCommitted>> => {
      const refused = refusals.get(keyOf(branch, path, blob))
      if (refused === undefined) return Effect.succeedNone
      return Effect.flatMap(
        cameTwice(refused),
        Option.match({
          onNone: () => Effect.succeedNone,
          onSome: (made) =>
            madeAgain(refused, made).pipe(
              Effect.flatMap((again) =>
                again ? toItsEnd(undo(refused, made)) : Effect.succeed(Option.some(made))
              ),
              Effect.catchAll(() => Effect.succeedNone)
            )
        })
      )
    }
  }
}

const keyOf = (branch: string, path: string, blob: Oid | undefined) => [branch, path, blob].join("\0")

const refusalOf = ({ branch, content, path }: FileWrite) =>
  keyOf(branch, path, Option.getOrUndefined(Option.map(content, (bytes) => GitObject.hash("blob", bytes))))
