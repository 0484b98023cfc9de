import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { Oid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import { type AmbiguousWriteError, RemoteError, type ValidationError } from "../../domain/StoreError.js"
import type { Committed, Head, NewCommit } from "../GitRemote.js"
import { attemptPromise } from "./Fault.js"
import { type FlushOptions, flush, type Portion } from "./Flush.js"
import type { Packable } from "./PackBuilder.js"
import { branchRef } from "./RefName.js"
import { Turn } from "./Turn.js"

type Done = Deferred.Deferred<void, RefMoved | RemoteError | AmbiguousWriteError>

/** Commits that became objects but are not yet written: all of one branch that one flush will make durable. */
interface Batch extends Portion {
  tip: Oid
  commits: number
  bytes: number
  readonly objects: Array<Packable>
  readonly done: Done
}

interface Branch {
  readonly name: string
  readonly turn: Turn
  /** What the next commit stands on while there are commits that are not yet durable. */
  staged: Head | undefined
  open: Batch | undefined
  /** The outcome of the newest batch. */
  last: Done | undefined
  /** Rises when a flush fails: whatever was built on its commits is void. */
  failures: number
}

/** A commit as objects, ready to be staged. */
export interface Draft {
  readonly committed: Committed
  readonly objects: ReadonlyArray<Packable>
}

type Built<A> = { readonly commit: Option.Option<NewCommit>; readonly result: A }
type Answer<A> = { readonly committed: Option.Option<Committed>; readonly result: A }
type Failure = RefMoved | RemoteError | AmbiguousWriteError | ValidationError

/** What a turn came to: the answer holds once `durable` is. */
interface Staged<A> {
  readonly answer: Answer<A>
  readonly durable: Done | undefined
}

export interface CommitQueueOptions extends FlushOptions {
  readonly headOf: (ref: string) => Effect.Effect<Option.Option<Head>, RemoteError>
  readonly draft: (
    head: Option.Option<Head>,
    commit: NewCommit
  ) => Effect.Effect<Draft, RemoteError | ValidationError>
  /** Told after each flush, for what is done now and then. */
  readonly flushed: Effect.Effect<void>
}

const operation = "GitRepository.commitNext"
/** A flush starts once nobody is about to add to it, or this many milliseconds after the last one did. */
const patience = 2
const maxCommits = 1_000
const maxBytes = 64 * 1024 * 1024
/** Milliseconds that closing waits for writes under way. */
const farewell = 10_000

const movedFrom = (branch: string, expected: Oid | undefined, actual: Oid | undefined) =>
  new RefMoved({
    ref: branchRef(branch),
    expected: Option.fromNullable(expected),
    actual: Option.fromNullable(actual)
  })

const commitOf = (head: Option.Option<Head>) => (Option.isSome(head) ? head.value.commit : undefined)

/**
 * The writers of one repository. Builds of a branch run one after the other on the newest staged commit; whatever is
 * staged when a flush begins shares one pack, one wave of fsyncs and one move of the ref. Meanwhile the next builds run.
 */
export const make = (options: CommitQueueOptions) =>
  Effect.gen(function* () {
    const { directory, objects } = options
    const branches = new Map<string, Branch>()
    const wakeups = yield* Queue.dropping<void>(1)
    const alone = new Turn()
    let closed = false
    /** Nothing is flushed any more. */
    let ended = false
    let gateOpen = true
    /** Writers that are in a branch's line or turn. */
    let active = 0
    let staged = { commits: 0, bytes: 0 }
    let inFlight: ReadonlyArray<Batch> = []
    const wasClosed = () =>
      new RemoteError({
        operation,
        reason: "Unreachable",
        path: directory,
        message: `The repository ${directory} was closed`
      })
    const listeners = new Set<() => void>()
    const changed = () => {
      for (const listener of [...listeners]) listener()
    }

    /** Waits until `holds`, looked at whenever something changed; at most `millis` after the last change. */
    const until = (holds: () => boolean, millis = Number.POSITIVE_INFINITY) =>
      Effect.async<void>((resume) => {
        if (holds()) return resume(Effect.void)
        let timer: NodeJS.Timeout | undefined
        const stop = () => {
          clearTimeout(timer)
          listeners.delete(look)
        }
        const finish = () => {
          stop()
          resume(Effect.void)
        }
        const wait = () => {
          clearTimeout(timer)
          if (millis !== Number.POSITIVE_INFINITY) timer = setTimeout(finish, millis)
        }
        const look = () => (holds() ? finish() : wait())
        listeners.add(look)
        wait()
        return Effect.sync(stop)
      })

    const branchOf = (name: string): Branch => {
      let branch = branches.get(name)
      if (branch === undefined) {
        branch = { name, turn: new Turn(), staged: undefined, open: undefined, last: undefined, failures: 0 }
        branches.set(name, branch)
      }
      return branch
    }

    /** Runs `body` in the branch's turn, counted as a writer, and not while somebody has the repository alone. */
    const inLine = <A, E, R>(
      restore: <A2, E2, R2>(effect: Effect.Effect<A2, E2, R2>) => Effect.Effect<A2, E2, R2>,
      branch: Branch,
      body: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | RemoteError, R> =>
      Effect.suspend(() => {
        if (closed) return Effect.fail(wasClosed())
        if (!gateOpen) return Effect.zipRight(restore(until(() => gateOpen)), inLine(restore, branch, body))
        active++
        return Effect.ensuring(
          branch.turn.run(restore, body),
          Effect.sync(() => {
            active--
            changed()
          })
        )
      })

    const release = (batch: Batch) => {
      for (const { oid } of batch.objects) {
        const entry = objects.staged.get(oid)
        if (entry !== undefined && --entry.users === 0) objects.staged.delete(oid)
      }
    }

    const fail = (batch: Batch, error: RefMoved | RemoteError | AmbiguousWriteError) => {
      const branch = branchOf(batch.branch)
      const follower = branch.open
      branch.failures++
      branch.staged = undefined
      branch.open = undefined
      branch.last = undefined
      release(batch)
      Deferred.unsafeDone(batch.done, Exit.fail(error))
      if (follower === undefined) return
      release(follower)
      staged = { commits: staged.commits - follower.commits, bytes: staged.bytes - follower.bytes }
      // Nothing of the follower was written, whatever became of the commits that it stands on.
      const cause =
        error._tag === "RemoteError"
          ? error
          : movedFrom(
              branch.name,
              follower.base,
              error._tag === "RefMoved" ? Option.getOrUndefined(error.actual) : batch.tip
            )
      Deferred.unsafeDone(follower.done, Exit.fail(cause))
    }

    const succeed = (batch: Batch) => {
      const branch = branchOf(batch.branch)
      if (branch.last === batch.done) {
        branch.staged = undefined
        branch.last = undefined
      }
      release(batch)
      Deferred.unsafeDone(batch.done, Exit.void)
    }

    const append = (branch: Branch, head: Option.Option<Head>, draft: Draft): Done => {
      const { commit, tree } = draft.committed
      const batch: Batch = branch.open ?? {
        branch: branch.name,
        base: commitOf(head),
        tip: commit,
        commits: 0,
        bytes: 0,
        objects: [],
        done: Deferred.unsafeMake(FiberId.none)
      }
      for (const object of draft.objects) {
        const entry = objects.staged.get(object.oid)
        if (entry === undefined) objects.staged.set(object.oid, { object, users: 1 })
        else entry.users++
        batch.objects.push(object)
        batch.bytes += object.content.length
        staged.bytes += object.content.length
      }
      batch.commits++
      staged.commits++
      batch.tip = commit
      branch.open = batch
      branch.staged = { commit, tree }
      branch.last = batch.done
      wakeups.unsafeOffer(undefined)
      changed()
      return batch.done
    }

    const moved = (branch: Branch, head: Option.Option<Head>) =>
      Effect.flatMap(options.headOf(branchRef(branch.name)), (now) =>
        Effect.fail(movedFrom(branch.name, commitOf(head), commitOf(now)))
      )

    /** One build in its turn. From the moment that its commit is staged, nothing interrupts it. */
    const stage = <A, E>(
      restore: <A2, E2, R2>(effect: Effect.Effect<A2, E2, R2>) => Effect.Effect<A2, E2, R2>,
      branch: Branch,
      build: (head: Option.Option<Head>) => Effect.Effect<Built<A>, E>
    ): Effect.Effect<Staged<A>, E | Failure> =>
      Effect.suspend(() => {
        const generation = branch.failures
        const seen = branch.last
        const draft = Effect.gen(function* () {
          if (staged.bytes > maxBytes) yield* until(() => staged.bytes <= maxBytes)
          const head =
            branch.staged === undefined
              ? yield* options.headOf(branchRef(branch.name))
              : Option.some(branch.staged)
          const built = yield* Effect.exit(build(head))
          if (Exit.isFailure(built)) {
            // A refusal that was judged on a commit still on its way holds only once that commit is durable.
            if (seen !== undefined) yield* Deferred.await(seen)
            return yield* Effect.failCause(built.cause)
          }
          if (branch.failures !== generation) return yield* moved(branch, head)
          const { commit, result } = built.value
          const made = Option.isNone(commit)
            ? Option.none<Draft>()
            : Option.some(yield* options.draft(head, commit.value))
          return { head, made, result }
        })
        return Effect.flatMap(
          restore(draft),
          ({ head, made, result }): Effect.Effect<Staged<A>, RefMoved | RemoteError> => {
            if (branch.failures !== generation) return moved(branch, head)
            if (ended && Option.isSome(made)) return Effect.fail(wasClosed())
            return Effect.succeed({
              answer: { committed: Option.map(made, ({ committed }) => committed), result },
              durable: Option.isNone(made) ? seen : append(branch, head, made.value)
            })
          }
        )
      })

    const commitNext = <A, E>(
      name: string,
      build: (head: Option.Option<Head>) => Effect.Effect<Built<A>, E>
    ): Effect.Effect<Answer<A>, E | Failure> =>
      Effect.uninterruptibleMask((restore) => {
        const branch = branchOf(name)
        return Effect.flatMap(
          inLine(restore, branch, stage(restore, branch, build)),
          ({ answer, durable }) =>
            durable === undefined ? Effect.succeed(answer) : Effect.as(Deferred.await(durable), answer)
        )
      })

    const flushOpen = Effect.gen(function* () {
      yield* until(() => active === 0 || staged.commits >= maxCommits || staged.bytes > maxBytes, patience)
      const batches: Array<Batch> = []
      for (const branch of branches.values()) {
        if (branch.open === undefined) continue
        batches.push(branch.open)
        branch.open = undefined
      }
      if (batches.length === 0) return
      inFlight = batches
      staged = { commits: 0, bytes: 0 }
      const written = yield* Effect.either(
        attemptPromise(operation, directory, () => flush(options, batches))
      )
      inFlight = []
      for (const [i, batch] of batches.entries()) {
        const outcome = Either.isLeft(written) ? written.left : written.right[i]!
        if (outcome._tag === "Done") succeed(batch)
        else if (outcome._tag === "Moved") fail(batch, movedFrom(batch.branch, batch.base, outcome.actual))
        else fail(batch, outcome)
      }
      changed()
      yield* options.flushed
    })

    /** What is staged now is never flushed. */
    const end = () => {
      ended = true
      for (const branch of branches.values()) {
        if (branch.open === undefined) continue
        release(branch.open)
        Deferred.unsafeDone(branch.open.done, Exit.fail(wasClosed()))
        branch.open = undefined
      }
    }

    const quiet = () =>
      inFlight.length === 0 && [...branches.values()].every(({ open }) => open === undefined)

    yield* Effect.zipRight(Queue.take(wakeups), Effect.uninterruptible(flushOpen)).pipe(
      Effect.forever,
      Effect.forkScoped
    )

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        closed = true
        return Effect.zipRight(
          until(() => quiet() && active === 0, farewell),
          Effect.sync(end)
        )
      })
    )

    return {
      commitNext,

      /** Runs `effect` in the branch's turn, with everything staged on the branch flushed. */
      inTurn: <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RemoteError, R> =>
        Effect.uninterruptibleMask((restore) => {
          const branch = branchOf(name)
          const settled = Effect.suspend(() =>
            branch.last === undefined ? Effect.void : Effect.ignore(Deferred.await(branch.last))
          )
          return inLine(restore, branch, restore(Effect.zipRight(settled, effect)))
        }),

      /** Runs `effect` with everything flushed and no writer of this process at work. */
      exclusively: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.uninterruptibleMask((restore) => {
          const body = Effect.suspend(() => {
            gateOpen = false
            return Effect.ensuring(
              restore(
                Effect.zipRight(
                  until(() => active === 0 && quiet()),
                  effect
                )
              ),
              Effect.sync(() => {
                gateOpen = true
                changed()
              })
            )
          })
          return alone.run(restore, body)
        }),

      /** Waits until everything staged is durable or has failed. */
      drain: Effect.suspend(() => until(quiet)),

      /** True while an object is known to this process alone. */
      isStaged: (oid: Oid) => objects.staged.has(oid)
    } as const
  })
