import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import {
  type AmbiguousWriteError,
  RemoteError,
  type ValidationError
} from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Committed, Head, NewCommit } from "../../Commit.js"
import { branchRef } from "../../Names.js"
import * as Condition from "../files/Condition.js"
import { attemptPromise, MissingInBuild } from "../files/EngineError.js"
import { type FlushOptions, flush } from "./Flush.js"
import * as LockedBranches from "./LockedBranches.js"
import * as Staging from "./Staging.js"
import * as WriterAccess from "./WriterAccess.js"

type Built<A> = { readonly commit: Option.Option<NewCommit>; readonly result: A }
type CommitResult<A> = { readonly committed: Option.Option<Committed>; readonly result: A }
type Failure = RefMoved | RemoteError | AmbiguousWriteError | ValidationError

/** The result of a build. It is valid when `valid` has succeeded. */
interface Staged<A, E> {
  readonly result: Exit.Exit<CommitResult<A>, E>
  readonly valid: Effect.Effect<void, Failure | Staging.Withdrawn>
  /** The flush of the commit of this build. */
  readonly durable: Staging.FlushResult | undefined
}

export interface CommitQueueOptions extends FlushOptions {
  readonly headOf: (ref: string) => Effect.Effect<Option.Option<Head>, RemoteError>
  readonly draft: (
    head: Option.Option<Head>,
    commit: NewCommit
  ) => Effect.Effect<Staging.Draft, RemoteError | ValidationError>
  /** Awaited before each flush. Commits that are staged meanwhile share the flush. */
  readonly throttle?: Effect.Effect<void> | undefined
  /** Runs after each flush, to start due maintenance. */
  readonly flushed: Effect.Effect<void>
}

const isUnfinished = (cause: Cause.Cause<unknown>): boolean =>
  Option.exists(Cause.failureOption(cause), (error) => error instanceof MissingInBuild)

const operation = "GitRepository.commitNext"
/** A flush starts when no writer is building a commit, or this many milliseconds after the last commit was staged. */
const flushDelay = 2
const maxCommits = 1_000
const maxBytes = 64 * 1024 * 1024
/** Milliseconds that closing waits for running writes. */
const closeTimeout = 10_000

/**
 * The commit queue of a repository. Builds of one branch run one after the other, each on the newest staged commit. All commits
 * that are staged when a flush begins share one pack, one round of fsyncs and one move of each ref. The next builds run meanwhile.
 */
export const make = (options: CommitQueueOptions) =>
  Effect.gen(function* () {
    const { directory, objects } = options
    const staging = Staging.make(objects)
    const wakeups = yield* Queue.dropping<void>(1)
    let closed = false
    /** Whether flushing has ended. */
    let ended = false
    let flushing = false
    const wasClosed = () =>
      new RemoteError({
        operation,
        reason: "Unreachable",
        path: directory,
        message: `The repository ${directory} was closed`
      })
    const condition = Condition.make()
    const { notifyAll, waitUntil } = condition
    const access = WriterAccess.make({
      condition,
      refusal: () => (closed ? wasClosed() : undefined),
      left: (branch) => staging.forget(branch)
    })
    const lockedBranches = LockedBranches.make(options.refs, () => wakeups.unsafeOffer(undefined))

    /** Removes the state of a branch without writers, as there may be any number of branches over time. */
    const forget = (branch: string): void => {
      if (!access.hasWriter(branch)) staging.forget(branch)
    }

    const moved = (branch: string, head: Option.Option<Head>) =>
      Effect.flatMap(options.headOf(branchRef(branch)), (now) =>
        Effect.fail(Staging.movedFrom(branch, Staging.commitOf(head), Staging.commitOf(now)))
      )

    /** Waits until the commit that a build is based on is durable. The build wrote nothing, so its error is never ambiguous. */
    const baseDurable = (branch: string, head: Option.Option<Head>, flushed: Staging.FlushResult) =>
      Effect.catchTags(Deferred.await(flushed), {
        RefusedCommits: () => Effect.fail(new Staging.Withdrawn()),
        AmbiguousWriteError: () => moved(branch, head)
      })

    const ownDurable = (flushed: Staging.FlushResult) =>
      Effect.catchTag(Deferred.await(flushed), "RefusedCommits", ({ error }) => Effect.fail(error))

    /** Builds and stages one commit. */
    const stage = <A, E>(
      restore: WriterAccess.Restore,
      name: string,
      build: (head: Option.Option<Head>) => Effect.Effect<Built<A>, E>
    ): Effect.Effect<Staged<A, E>, E | Failure | Staging.Withdrawn> =>
      Effect.suspend(() => {
        const branch = staging.branchOf(name)
        const { failures, last: seen, withdrawals } = branch
        const isInvalid = () => branch.failures !== failures || branch.withdrawals !== withdrawals
        /** The failure of a build whose base was not written. */
        const invalidated = (
          head: Option.Option<Head>
        ): Effect.Effect<never, RefMoved | RemoteError | Staging.Withdrawn> =>
          branch.failures !== failures ? moved(name, head) : Effect.fail(new Staging.Withdrawn())
        const draft = Effect.gen(function* () {
          if (staging.bytes() > maxBytes) yield* waitUntil(() => staging.bytes() <= maxBytes)
          const head =
            branch.staged === undefined ? yield* options.headOf(branchRef(name)) : Option.some(branch.staged)
          const built = yield* Effect.exit(build(head))
          if (Exit.isFailure(built)) {
            if (isUnfinished(built.cause)) {
              // The objects that it lacks may be those of a base that was not written.
              return yield* isInvalid() ? new Staging.Withdrawn() : Effect.failCause(built.cause)
            }
            return { head, made: Option.none<Staging.Draft>(), result: Exit.failCause(built.cause) }
          }
          if (isInvalid()) return yield* invalidated(head)
          const { commit, result } = built.value
          const drafted = Option.isNone(commit)
            ? Option.none<Staging.Draft>()
            : yield* options.draft(head, commit.value).pipe(
                Effect.asSome,
                // The error may be due to the missing base.
                Effect.catchAll(
                  (error): Effect.Effect<never, Failure | Staging.Withdrawn> =>
                    isInvalid() ? invalidated(head) : Effect.fail(error)
                )
              )
          return { head, made: drafted, result: Exit.succeed(result) }
        })
        return Effect.flatMap(
          restore(draft),
          ({
            head,
            made,
            result
          }): Effect.Effect<Staged<A, E>, RefMoved | RemoteError | Staging.Withdrawn> => {
            if (Exit.isSuccess(result) && isInvalid()) return invalidated(head)
            if (ended && Option.isSome(made)) return Effect.fail(wasClosed())
            const resultOf = (committed: Option.Option<Committed>) =>
              Exit.map(result, (value) => ({ committed, result: value }))
            if (Option.isNone(made)) {
              // A result or a refusal that is based on a staged commit is valid only if that commit becomes durable.
              const valid = seen === undefined ? Effect.void : baseDurable(name, head, seen)
              return Effect.succeed({
                result: resultOf(Option.none()),
                valid,
                durable: undefined
              })
            }
            const durable = append(branch, head, made.value)
            const { committed } = made.value
            return Effect.succeed({
              result: resultOf(Option.some(committed)),
              valid: ownDurable(durable),
              durable
            })
          }
        )
      })

    /** Stages a commit and wakes the flush. Waiting fibers are notified when the writer leaves the branch. */
    const append = (
      branch: Staging.Branch,
      head: Option.Option<Head>,
      draft: Staging.Draft
    ): Staging.FlushResult => {
      const done = staging.append(branch, head, draft)
      wakeups.unsafeOffer(undefined)
      return done
    }

    /** Handles an interruption: withdraws a commit whose flush has not begun, or else waits for its outcome. */
    const withdrawOrAwait = (name: string, durable: Staging.FlushResult) =>
      Effect.suspend(() => {
        // After closing, staged commits are flushed at once, and no commit is built again.
        if (closed || !staging.withdraw(name, durable)) return Effect.ignore(Deferred.await(durable))
        forget(name)
        notifyAll()
        return Effect.void
      })

    const commitNext = <A, E>(
      name: string,
      build: (head: Option.Option<Head>) => Effect.Effect<Built<A>, E>
    ): Effect.Effect<CommitResult<A>, E | Failure> =>
      Effect.uninterruptibleMask((restore) => {
        const awaitValid = ({ durable, result, valid }: Staged<A, E>) => {
          const settled =
            durable === undefined
              ? restore(valid)
              : options.throttle === undefined
                ? valid
                : Effect.onInterrupt(restore(valid), () => withdrawOrAwait(name, durable))
          return Effect.zipRight(settled, result)
        }
        const attempt: Effect.Effect<CommitResult<A>, E | Failure> = Effect.suspend(() =>
          access.withBranch(restore, name, stage(restore, name, build))
        ).pipe(
          Effect.flatMap(awaitValid),
          Effect.catchIf(
            (error) => error instanceof Staging.Withdrawn,
            () => attempt
          )
        )
        return attempt
      })

    const flushOpen = Effect.gen(function* () {
      // Commits that are staged after this check wake the next flush, which waits for the throttle itself.
      if (staging.isEmpty()) return
      if (options.throttle !== undefined) {
        const isDue = yield* Effect.raceFirst(
          Effect.as(Effect.interruptible(options.throttle), true),
          Effect.map(Effect.interruptible(waitUntil(() => closed || staging.isEmpty())), () => closed)
        )
        // All commits were withdrawn. Without a push, the next commit does not wait for another interval.
        if (!isDue) return
      }
      yield* waitUntil(
        () => access.writers() === 0 || staging.commits() >= maxCommits || staging.bytes() > maxBytes,
        flushDelay,
        // Writers that commit nothing, such as refused ones, may come and go without end.
        staging.commits
      )
      const batches = staging.take(lockedBranches.hasToWait)
      if (!staging.isEmpty()) lockedBranches.checkLater()
      if (batches.length === 0) return
      const flushes = batches.map((batch) => ({
        ...batch,
        waitedForLock: lockedBranches.flushing(batch.branch)
      }))
      flushing = true
      const written = yield* Effect.either(
        attemptPromise(operation, directory, () => flush(options, flushes))
      )
      flushing = false
      for (const [i, batch] of batches.entries()) {
        const outcome = Either.isLeft(written) ? written.left : written.right[i]!
        if (outcome._tag === "Done") staging.succeed(batch)
        else if (outcome._tag === "Moved")
          staging.fail(batch, Staging.movedFrom(batch.branch, batch.base, outcome.actual))
        else staging.fail(batch, outcome)
        forget(batch.branch)
      }
      notifyAll()
      yield* options.flushed
    })

    /** Ends flushing. Staged commits fail. */
    const end = () => {
      ended = true
      staging.abandon(wasClosed)
      notifyAll()
    }

    const isIdle = () => !flushing && staging.isEmpty()

    yield* Effect.zipRight(Queue.take(wakeups), Effect.uninterruptible(flushOpen)).pipe(
      Effect.forever,
      Effect.forkScoped
    )

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        closed = true
        notifyAll()
        return Effect.zipRight(
          waitUntil(() => isIdle() && access.writers() === 0, closeTimeout),
          Effect.sync(end)
        )
      })
    )

    return {
      commitNext,

      /** Runs `effect` while it holds the mutex of a ref, after the staged commits of the ref are flushed. */
      withRefMutex: <A, E, R>(
        ref: string,
        effect: Effect.Effect<A, E, R>
      ): Effect.Effect<A, E | RemoteError, R> =>
        Effect.uninterruptibleMask((restore) => {
          // The key of a branch is its short name, and that of another ref its full name.
          const name = ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : ref
          // If the newest batch is withdrawn, the one before it is awaited.
          const flushed = (seen: Staging.FlushResult | undefined): Effect.Effect<void> =>
            Effect.suspend(() => {
              const { last } = staging.branchOf(name)
              return last === undefined || last === seen
                ? Effect.void
                : Effect.zipRight(Effect.ignore(Deferred.await(last)), flushed(last))
            })
          return access.withBranch(restore, name, restore(Effect.zipRight(flushed(undefined), effect)))
        }),

      /** Runs `effect` after all staged commits are flushed, while no other writer of this process runs. */
      withExclusiveAccess: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.uninterruptibleMask((restore) => access.withExclusive(restore, isIdle, effect)),

      /** Waits until objects are no longer staged: their flush has succeeded or failed. */
      settled: (...oids: ReadonlyArray<Oid>) => waitUntil(() => !oids.some((oid) => objects.staged.has(oid)))
    } as const
  })
