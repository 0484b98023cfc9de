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
import { attemptPromise } from "../files/EngineError.js"
import { FairMutex } from "../files/FairMutex.js"
import { type FlushOptions, flush } from "./Flush.js"
import * as Staging from "./Staging.js"

type Built<A> = { readonly commit: Option.Option<NewCommit>; readonly result: A }
type Answer<A> = { readonly committed: Option.Option<Committed>; readonly result: A }
type Failure = RefMoved | RemoteError | AmbiguousWriteError | ValidationError

/** What a turn came to: the answer holds once `durable` is. */
interface Staged<A> {
  readonly answer: Answer<A>
  readonly durable: Staging.FlushResult | undefined
}

export interface CommitQueueOptions extends FlushOptions {
  readonly headOf: (ref: string) => Effect.Effect<Option.Option<Head>, RemoteError>
  readonly draft: (
    head: Option.Option<Head>,
    commit: NewCommit
  ) => Effect.Effect<Staging.Draft, RemoteError | ValidationError>
  /** Waited for before each flush: what is staged meanwhile shares it. */
  readonly throttle?: Effect.Effect<void> | undefined
  /** Told after each flush, for what is done now and then. */
  readonly flushed: Effect.Effect<void>
}

const operation = "GitRepository.commitNext"
/** A flush starts once nobody is about to add to it, or this many milliseconds after the last one did. */
const patience = 2
/** Milliseconds between two looks at whether a locked branch still is. */
const lockedMillis = 10
const maxCommits = 1_000
const maxBytes = 64 * 1024 * 1024
/** Milliseconds that closing waits for writes under way. */
const farewell = 10_000

/**
 * The writers of one repository. Builds of a branch run one after the other on the newest staged commit; whatever is
 * staged when a flush begins shares one pack, one wave of fsyncs and one move of the ref. Meanwhile the next builds run.
 */
export const make = (options: CommitQueueOptions) =>
  Effect.gen(function* () {
    const { directory, objects } = options
    const staging = Staging.make(objects)
    /** The branches that somebody waits for or has the turn of. */
    const lines = new Map<string, { readonly turn: FairMutex; users: number }>()
    const wakeups = yield* Queue.dropping<void>(1)
    const alone = new FairMutex()
    let closed = false
    /** Nothing is flushed any more. */
    let ended = false
    let gateOpen = true
    /** Writers that are in a branch's line or turn. */
    let active = 0
    let flushing = false
    const wasClosed = () =>
      new RemoteError({
        operation,
        reason: "Unreachable",
        path: directory,
        message: `The repository ${directory} was closed`
      })
    const { notifyAll, waitUntil } = Condition.make()

    const enter = (branch: string): FairMutex => {
      const line = lines.get(branch) ?? { turn: new FairMutex(), users: 0 }
      lines.set(branch, line)
      line.users++
      active++
      return line.turn
    }

    const leave = (branch: string): void => {
      const line = lines.get(branch)!
      active--
      if (--line.users === 0) {
        lines.delete(branch)
        forget(branch)
      }
      notifyAll()
    }

    /** Branches come and go: nothing is kept of one that nobody writes. */
    const forget = (branch: string): void => {
      if (!lines.has(branch)) staging.forget(branch)
    }

    /** Runs `body` in the branch's turn, counted as a writer, and not while somebody has the repository alone. */
    const inLine = <A, E, R>(
      restore: <A2, E2, R2>(effect: Effect.Effect<A2, E2, R2>) => Effect.Effect<A2, E2, R2>,
      branch: string,
      body: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | RemoteError, R> =>
      Effect.suspend(() => {
        if (closed) return Effect.fail(wasClosed())
        if (!gateOpen)
          return Effect.zipRight(restore(waitUntil(() => gateOpen)), inLine(restore, branch, body))
        return Effect.ensuring(
          enter(branch).run(restore, body),
          Effect.sync(() => leave(branch))
        )
      })

    const moved = (branch: string, head: Option.Option<Head>) =>
      Effect.flatMap(options.headOf(branchRef(branch)), (now) =>
        Effect.fail(Staging.movedFrom(branch, Staging.commitOf(head), Staging.commitOf(now)))
      )

    /** One build in its turn. */
    const stage = <A, E>(
      restore: <A2, E2, R2>(effect: Effect.Effect<A2, E2, R2>) => Effect.Effect<A2, E2, R2>,
      name: string,
      build: (head: Option.Option<Head>) => Effect.Effect<Built<A>, E>
    ): Effect.Effect<Staged<A>, E | Failure | Staging.Withdrawn> =>
      Effect.suspend(() => {
        const branch = staging.branchOf(name)
        const { failures, last: seen, withdrawals } = branch
        const isVoid = () => branch.failures !== failures || branch.withdrawals !== withdrawals
        /** What it was built on is no more. */
        const voided = (
          head: Option.Option<Head>
        ): Effect.Effect<never, RefMoved | RemoteError | Staging.Withdrawn> =>
          branch.failures !== failures ? moved(name, head) : Effect.fail(new Staging.Withdrawn())
        const draft = Effect.gen(function* () {
          if (staging.bytes() > maxBytes) yield* waitUntil(() => staging.bytes() <= maxBytes)
          const head =
            branch.staged === undefined ? yield* options.headOf(branchRef(name)) : Option.some(branch.staged)
          const built = yield* Effect.exit(build(head))
          if (Exit.isFailure(built)) {
            // A refusal that was judged on a commit still on its way holds only once that commit is durable.
            if (seen !== undefined) yield* Deferred.await(seen)
            return yield* Effect.failCause(built.cause)
          }
          if (isVoid()) return yield* voided(head)
          const { commit, result } = built.value
          const made = Option.isNone(commit)
            ? Option.none<Staging.Draft>()
            : yield* options.draft(head, commit.value).pipe(
                Effect.asSome,
                // It may have missed what it was built on.
                Effect.catchAll(
                  (error): Effect.Effect<never, Failure | Staging.Withdrawn> =>
                    isVoid() ? voided(head) : Effect.fail(error)
                )
              )
          return { head, made, result }
        })
        return Effect.flatMap(
          restore(draft),
          ({ head, made, result }): Effect.Effect<Staged<A>, RefMoved | RemoteError | Staging.Withdrawn> => {
            if (isVoid()) return voided(head)
            if (ended && Option.isSome(made)) return Effect.fail(wasClosed())
            return Effect.succeed({
              answer: { committed: Option.map(made, ({ committed }) => committed), result },
              durable: Option.isNone(made) ? seen : append(branch, head, made.value)
            })
          }
        )
      })

    /** Who waits for a change is told by `leave`, which follows. */
    const append = (
      branch: Staging.Branch,
      head: Option.Option<Head>,
      draft: Staging.Draft
    ): Staging.FlushResult => {
      const done = staging.append(branch, head, draft)
      wakeups.unsafeOffer(undefined)
      return done
    }

    /** A commit that still waits for its flush to begin is taken out by an interruption; later, the outcome is waited for. */
    const withdrawing = (name: string, durable: Staging.FlushResult) =>
      Effect.suspend(() => {
        // What waits when the repository is closed is flushed at once, and nothing is built again.
        if (closed || !staging.withdraw(name, durable)) return Effect.ignore(Deferred.await(durable))
        forget(name)
        notifyAll()
        return Effect.void
      })

    const commitNext = <A, E>(
      name: string,
      build: (head: Option.Option<Head>) => Effect.Effect<Built<A>, E>
    ): Effect.Effect<Answer<A>, E | Failure> =>
      Effect.uninterruptibleMask((restore) => {
        const settled = ({ answer, durable }: Staged<A>) => {
          if (durable === undefined) return Effect.succeed(answer)
          const wait = Deferred.await(durable)
          if (options.throttle === undefined) return Effect.as(wait, answer)
          return Effect.as(
            Option.isNone(answer.committed)
              ? restore(wait)
              : Effect.onInterrupt(restore(wait), () => withdrawing(name, durable)),
            answer
          )
        }
        const attempt: Effect.Effect<Answer<A>, E | Failure> = Effect.suspend(() =>
          inLine(restore, name, stage(restore, name, build))
        ).pipe(
          Effect.flatMap(settled),
          Effect.catchIf(
            (error) => error instanceof Staging.Withdrawn,
            () => attempt
          )
        )
        return attempt
      })

    /** Branches whose locks others hold, and since when. */
    const lockedSince = new Map<string, number>()
    /** Whether a branch is locked by others, who must not hold up the writers of all other branches. */
    const hasToWait = (branch: string): boolean => {
      const now = performance.now()
      const since = lockedSince.get(branch) ?? now
      lockedSince.delete(branch)
      if (!isLocked(branch)) return false
      lockedSince.set(branch, since)
      return now - since < options.refs.timeout
    }

    let willLook = false
    const lookAgain = (): void => {
      if (willLook) return
      willLook = true
      setTimeout(() => {
        willLook = false
        wakeups.unsafeOffer(undefined)
      }, lockedMillis)
    }

    const isLocked = (branch: string): boolean => {
      try {
        return options.refs.isLocked(branchRef(branch))
      } catch {
        // The flush will tell what is wrong with it.
        return false
      }
    }

    const flushOpen = Effect.gen(function* () {
      // What is staged from here on wakes the next flush, which waits for its own pace.
      if (staging.isEmpty()) return
      if (options.throttle !== undefined) {
        yield* Effect.raceFirst(
          Effect.interruptible(options.throttle),
          Effect.interruptible(waitUntil(() => closed))
        )
      }
      yield* waitUntil(
        () => active === 0 || staging.commits() >= maxCommits || staging.bytes() > maxBytes,
        patience
      )
      const batches = staging.take(hasToWait)
      if (!staging.isEmpty()) lookAgain()
      if (batches.length === 0) return
      const portions = batches.map((batch) => ({ ...batch, late: lockedSince.delete(batch.branch) }))
      flushing = true
      const written = yield* Effect.either(
        attemptPromise(operation, directory, () => flush(options, portions))
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

    /** What is staged now is never flushed. */
    const end = () => {
      ended = true
      staging.abandon(wasClosed)
      notifyAll()
    }

    const quiet = () => !flushing && staging.isEmpty()

    yield* Effect.zipRight(Queue.take(wakeups), Effect.uninterruptible(flushOpen)).pipe(
      Effect.forever,
      Effect.forkScoped
    )

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        closed = true
        notifyAll()
        return Effect.zipRight(
          waitUntil(() => quiet() && active === 0, farewell),
          Effect.sync(end)
        )
      })
    )

    return {
      commitNext,

      /** Runs `effect` in a ref's turn, with everything staged on it flushed. */
      inTurn: <A, E, R>(ref: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RemoteError, R> =>
        Effect.uninterruptibleMask((restore) => {
          // Branches have their turns by their short names, and other refs by their whole ones.
          const name = ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : ref
          // A commit that is taken out leaves the flush before it as the last one.
          const settled = (seen: Staging.FlushResult | undefined): Effect.Effect<void> =>
            Effect.suspend(() => {
              const { last } = staging.branchOf(name)
              return last === undefined || last === seen
                ? Effect.void
                : Effect.zipRight(Effect.ignore(Deferred.await(last)), settled(last))
            })
          return inLine(restore, name, restore(Effect.zipRight(settled(undefined), effect)))
        }),

      /** Runs `effect` with everything flushed and no writer of this process at work. */
      exclusively: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.uninterruptibleMask((restore) => {
          const body = Effect.suspend(() => {
            gateOpen = false
            return Effect.ensuring(
              restore(
                Effect.zipRight(
                  waitUntil(() => active === 0 && quiet()),
                  effect
                )
              ),
              Effect.sync(() => {
                gateOpen = true
                notifyAll()
              })
            )
          })
          return alone.run(restore, body)
        }),

      /** Waits until these objects are durable or have failed to be: until then this process alone knows them. */
      settled: (...oids: ReadonlyArray<Oid>) => waitUntil(() => !oids.some((oid) => objects.staged.has(oid)))
    } as const
  })
