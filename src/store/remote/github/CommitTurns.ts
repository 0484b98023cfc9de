import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../../domain/Ref.js"
import type { Exclusively } from "../../internal/Mutex.js"
import type { Change, Committed, GitRemoteService, Head } from "../GitRemote.js"
import type { Branches } from "./Branches.js"
import type { Bring } from "./Bring.js"
import { operation } from "./Call.js"
import type { CallFailure, Client } from "./Client.js"
import type { makeCommit } from "./Commits.js"
import type { Files } from "./Files.js"
import type { Heads } from "./Heads.js"
import type { KnownTrees } from "./KnownTrees.js"
import type { ObjectCache } from "./ObjectCache.js"
import { lagging } from "./Retry.js"
import type { Told, Writable } from "./Told.js"
import { building } from "./Trees.js"

interface Parts {
  readonly client: Client
  readonly cache: ObjectCache
  readonly known: KnownTrees
  readonly branches: Branches
  readonly heads: Heads
  readonly bring: Bring
  readonly files: Files
  readonly commitNow: ReturnType<typeof makeCommit>
  readonly told: Told
  readonly writable: Writable
  readonly exclusively: Exclusively
}

/** A head that was looked up after a lost race is news for so many milliseconds: whoever loses it lost a race again. */
const lookedFor = 5_000

/** Commits in their branch's turn, built on what is remembered of it as long as that proves true. */
export const makeCommitTurns = ({
  branches,
  bring,
  cache,
  client,
  commitNow,
  exclusively,
  files,
  heads,
  known,
  told,
  writable
}: Parts): Pick<GitRemoteService, "commit" | "commitNext"> => {
  const looked = new Map<string, { readonly head: Head; readonly at: number }>()

  /** After a lost race: where the branch is by now. Replicas may still tell the old place. */
  const lookAgain = (branch: string, lost: RefMoved): Effect.Effect<RefMoved, CallFailure> =>
    Effect.gen(function* () {
      const before = Option.getOrUndefined(lost.expected)
      branches.forget(branch)
      const now = yield* heads.now(branch).pipe(
        Effect.flatMap((found) =>
          before !== undefined && Option.isSome(found) && found.value.commit === before
            ? Effect.fail("behind" as const)
            : Effect.succeed(found)
        ),
        Effect.retry({ schedule: lagging, while: (error) => error === "behind" }),
        Effect.catchAll((error) =>
          error === "behind" ? Effect.succeed(Option.none<Head>()) : Effect.fail(error)
        )
      )
      if (Option.isSome(now)) looked.set(branch, { head: now.value, at: yield* Clock.currentTimeMillis })
      return new RefMoved({ ...lost, actual: Option.map(now, (found) => found.commit) })
    })

  /** Whether this head was looked up for the try that begins, and is no memory that may be old. */
  const wasLookedUp = (branch: string, head: Head) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const found = looked.get(branch)
      looked.delete(branch)
      return found?.head.commit === head.commit && now - found.at < lookedFor
    })

  const remember = (
    branch: string,
    parent: Option.Option<Head>,
    changes: ReadonlyArray<Change>,
    made: Committed
  ) =>
    Effect.forEach(
      changes,
      (change) => {
        const before = Option.isNone(parent) ? Option.none() : known.locate(parent.value, change.path)
        const after =
          change._tag === "Remove"
            ? Option.none()
            : Option.fromNullable(change._tag === "Link" ? change.oid : made.blobs.get(change.path))
        files.forgetFile(branch, change.path)
        const was = before === undefined ? undefined : Option.map(before, (entry) => entry.oid)
        return branches.wroteFile(branch, change.path, was, after)
      },
      { discard: true }
    ).pipe(
      Effect.zipRight(
        branches.wrote(
          branch,
          Option.map(parent, (at) => at.commit),
          { commit: made.commit, tree: Option.some(made.tree) }
        )
      )
    )

  const commit: GitRemoteService["commit"] = (branch, expected, wanted) =>
    writable("commit", branch, ...wanted.changes.map((change) => change.path)).pipe(
      Effect.zipRight(
        Effect.suspend(() => {
          const changes = wanted.changes.map((change) =>
            change._tag === "Put" ? { ...change, content: change.content.slice() } : change
          )
          const place = { operation: "GitRemote.commit" }
          return Effect.tap(commitNow(place, branch, expected, { ...wanted, changes }), (made) => {
            for (const change of changes) {
              const oid = made.blobs.get(change.path)
              if (change._tag === "Put" && oid !== undefined) cache.putBlob(oid, change.content)
            }
            known.derive(Option.getOrUndefined(expected), changes, made)
            return remember(branch, expected, changes, made)
          })
        })
      ),
      branches.careful(branch),
      Effect.catchTag("RefMoved", (lost) => Effect.flatMap(lookAgain(branch, lost), Effect.fail)),
      Effect.catchTag("ConflictError", () => {
        const lost = new RefMoved({
          ref: `refs/heads/${branch}`,
          expected: Option.map(expected, (at) => at.commit),
          actual: Option.none()
        })
        return Effect.flatMap(lookAgain(branch, lost), Effect.fail)
      }),
      told("commit")
    )

  const headNow = (branch: string) => told("head")(heads.now(branch))

  const commitNext: GitRemoteService["commitNext"] = (branch, build, wants) =>
    writable("commitNext", branch).pipe(
      Effect.zipRight(
        Effect.gen(function* () {
          const remembered = branches.remembered(branch)
          const optimistic = remembered !== undefined && Option.isSome(remembered)
          const isGuess = optimistic && !(yield* wasLookedUp(branch, remembered.value))
          let at = optimistic ? remembered : yield* told("head")(heads.now(branch, wants))
          if (heads.brings && optimistic && wants !== undefined) {
            const missing = bring.missing(remembered.value, wants)
            if (missing.files.length + missing.trees.length > 0) {
              yield* told("head")(heads.brought({ commit: remembered.value.commit }, missing))
            }
          }
          let built = yield* Effect.either(Effect.locally(build(at), building, true))
          if (optimistic && (built._tag === "Left" || Option.isNone(built.right.commit))) {
            // A refusal is never issued from memory alone.
            const now = yield* headNow(branch)
            if (Option.getOrUndefined(now)?.commit !== remembered.value.commit) {
              at = now
              built = yield* Effect.either(Effect.locally(build(at), building, true))
            }
          }
          if (built._tag === "Left") return yield* Effect.fail(built.left)
          const { commit: next, result } = built.right
          if (Option.isNone(next)) return { committed: Option.none(), result }
          const made = yield* Effect.either(commit(branch, at, next.value))
          if (made._tag === "Right") return { committed: Option.some(made.right), result }
          const guessed = isGuess && at === remembered
          if (made.left._tag !== "RefMoved" || !guessed) return yield* Effect.fail(made.left)
          // What was remembered was old: no race is lost yet.
          const news = looked.get(branch)?.head
          const now = news === undefined ? yield* headNow(branch) : Option.some(news)
          if (Option.getOrUndefined(now)?.commit === remembered.value.commit) {
            return yield* Effect.fail(made.left)
          }
          const again = yield* Effect.locally(build(now), building, true)
          if (Option.isNone(again.commit)) return { committed: Option.none(), result: again.result }
          const second = yield* commit(branch, now, again.commit.value)
          return { committed: Option.some(second), result: again.result }
        })
      ),
      exclusively(branch),
      operation("commitNext", client.settings.deadline)
    )

  return { commit, commitNext }
}
