import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { inDaemonFiber } from "../../../domain/concurrency/DaemonFiber.js"
import { AmbiguousWriteError, RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import type { WriteError } from "../../Collection.js"
import type { CollectionLike } from "../../CollectionDefinition.js"
import type { StoreService } from "../../StoreService.js"
import type { Writer, WriterOptions } from "../../Writer.js"
import { runBody } from "../calls/Guard.js"
import { guardWriter } from "../calls/Signatures.js"
import { nameOfDocument } from "../commit/DocumentEdit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import * as Queue from "./OperationQueue.js"
import { type PendingOperation, PendingOperations } from "./PendingOperations.js"

/** The time limit of the last flush if the body failed or was interrupted. */
const lastFlushLimit = Duration.seconds(5)

/** How often the time between two tries of a failed flush is doubled. */
const mostDoublings = 6

const targets = (items: ReadonlyArray<PendingOperation>) =>
  Array.from(
    new Map(items.map(({ collection, id }) => [Queue.keyOf(collection, id), { collection, id }])).values()
  )

const names = (items: ReadonlyArray<PendingOperation>) => {
  const all = targets(items).map(({ collection, id }) => Queue.keyOf(collection, id))
  return all.length <= 10 ? all.join(", ") : `${all.slice(0, 10).join(", ")} and ${all.length - 10} more`
}

/** The errors to which a writer added the names of unwritten operations. */
const originals = new WeakMap<object, WriteError>()

/**
 * A copy of an error that names the operations which are not durable. A copy, because other callers may hold the same
 * error.
 */
const withUnwritten = (
  error: WriteError,
  items: ReadonlyArray<PendingOperation>,
  told = unwrittenHint(error, items)
): WriteError => {
  const original = originals.get(error) ?? error
  const hint = original.hint === undefined ? told : `${original.hint}; ${told}`
  const Same = original.constructor as new (fields: object) => WriteError
  const { cause, message } = original
  const copy = new Same({ ...original, message, cause, unwritten: targets(items), hint })
  originals.set(copy, original)
  return copy
}

const unwrittenHint = (error: WriteError, items: ReadonlyArray<PendingOperation>) =>
  `${error._tag === "AmbiguousWriteError" ? "perhaps written" : "not yet written"}: ${names(items)}`

interface OpenWriter {
  readonly writer: Writer
  /** Commits all operations, even if earlier flushes failed. */
  readonly finish: Effect.Effect<void, WriteError>
  /** The documents that were written, by `nameOfDocument`. */
  readonly written: ReadonlySet<string>
  /** The waiting operations; the first `taken` are being written. */
  readonly left: Effect.Effect<{ readonly items: ReadonlyArray<PendingOperation>; readonly taken: number }>
  readonly close: Effect.Effect<void>
}

const open = (core: StoreCore, options: WriterOptions, scope: Scope.Scope): OpenWriter => {
  const maxOperations = options.maxOperations ?? 50
  const maxSeconds = options.maxSeconds ?? 5
  const mutex = Effect.unsafeMakeSemaphore(1)
  const ids: Array<string> = []
  const written = new Set<string>()
  /** The first `taken` operations are being written. */
  const pending = new PendingOperations()
  let taken = 0
  let flushError: WriteError | undefined
  /** Flushes that have failed since the last one that succeeded. */
  let failures = 0
  let timer: Fiber.Fiber<void> | undefined
  let draining: Fiber.Fiber<Option.Option<string>, WriteError> | undefined
  let isEnded = false

  /** Writes the oldest operations as one commit, after they are checked, unless at most `least` are waiting. */
  const writeOldest = (least: number): Effect.Effect<Option.Option<string>, WriteError> =>
    Effect.zipRight(
      pending.awaitChecks(maxOperations),
      Effect.suspend((): Effect.Effect<Option.Option<string>, WriteError> => {
        if (pending.all.length <= least) return Effect.succeedNone
        const items = pending.ready(maxOperations)
        if (items.length === 0) return Effect.succeedNone
        taken = items.length
        return core
          .write({
            operation: "Writer.flush",
            message: options.message ?? `writer: ${items.length} operations`,
            mode: "document",
            operations: Queue.fold(items)
          })
          .pipe(
            Effect.onExit((exit) =>
              Effect.sync(() => {
                taken = 0
                const error = Exit.isSuccess(exit) ? Option.none() : Cause.failureOption(exit.cause)
                const isRefused = Option.exists(error, ({ _tag }) => _tag !== "AmbiguousWriteError")
                if (!isRefused) pending.remove(items)
                if (Exit.isFailure(exit) && Option.isNone(error))
                  flushError = withUnwritten(interrupted(), items)
              })
            ),
            Effect.map((outcome) => {
              const sha = Option.map(outcome.committed, ({ commit }) => commit as string)
              if (Option.isSome(sha)) ids.push(sha.value)
              for (const document of outcome.documents) written.add(nameOfDocument(document))
              return sha
            }),
            Effect.mapError((error) =>
              withUnwritten(error, error._tag === "AmbiguousWriteError" ? items : pending.all)
            )
          )
      })
    ).pipe(mutex.withPermits(1))

  const drainNow = (least: number) =>
    Effect.gen(function* () {
      let last = Option.none<string>()
      while (pending.all.length > least) {
        const sha = yield* writeOldest(least)
        if (Option.isSome(sha)) last = sha
      }
      return last
    })

  /**
   * Writes until at most `least` operations are waiting. It runs in its own fiber: if a caller is interrupted, a commit
   * continues, so that its result is known.
   */
  const drain = (least: number): Effect.Effect<Option.Option<string>, WriteError> =>
    Effect.suspend(() => {
      const running = draining
      if (running !== undefined) {
        return Effect.flatMap(awaitDrain(running), (sha) =>
          pending.all.length > least ? drain(least) : Effect.succeed(sha)
        )
      }
      let over = false
      const loop = Effect.onExit(drainNow(least), (exit) =>
        Effect.suspend(() => {
          over = true
          draining = undefined
          if (Exit.isSuccess(exit)) {
            failures = 0
            return setTimer(0)
          }
          const lost = Option.filter(
            Cause.failureOption(exit.cause),
            ({ _tag }) => _tag === "AmbiguousWriteError"
          )
          if (Option.isSome(lost)) flushError = lost.value
          // The caller may have been interrupted, and no other call may follow.
          return timer === undefined ? setTimer(retryDelay()) : Effect.void
        })
      )
      return Effect.flatMap(Effect.forkIn(Effect.interruptible(loop), scope), (fiber) => {
        // The fiber may have ended before this line runs.
        if (!over) draining = fiber
        return awaitDrain(fiber)
      })
    })

  /**
   * Marks a lost write as reported once a caller fails with it; if no caller is waiting, the next call fails with it.
   */
  const awaitDrain = (fiber: Fiber.Fiber<Option.Option<string>, WriteError>) =>
    Effect.tapError(Fiber.join(fiber), (error) =>
      Effect.sync(() => {
        if (flushError === error) flushError = undefined
      })
    )

  /** Ends the writer when no operation is waiting: operations that are queued later are refused, not lost. */
  const drainAndEnd: Effect.Effect<void, WriteError> = Effect.flatMap(drain(0), () =>
    Effect.suspend(() => {
      if (pending.all.length > 0) return drainAndEnd
      isEnded = true
      return Effect.void
    })
  )

  /** Sets the timer for the oldest operation, at least `least` milliseconds from now. */
  const setTimer = (least: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const running = timer
      timer = undefined
      const stop = running === undefined ? Effect.void : Fiber.interruptFork(running)
      const oldest = pending.all[taken]
      if (oldest === undefined || isEnded) return stop
      return Effect.gen(function* () {
        yield* stop
        const now = yield* Monotonic.millis
        const wait = Math.max(least, oldest.since + maxSeconds * 1000 - now)
        timer = yield* Effect.forkIn(
          Effect.interruptible(Effect.zipRight(Effect.sleep(Duration.millis(wait)), onTimer)),
          scope
        )
      })
    })
  const resetTimer = Effect.suspend(() => setTimer(maxSeconds * 1000))

  /** Milliseconds until a failed flush is tried again without a call of the writer: `maxSeconds`, doubled each time. */
  const retryDelay = () => maxSeconds * 1000 * 2 ** Math.min(failures++, mostDoublings)

  const onTimer: Effect.Effect<void> = Effect.suspend(() => {
    timer = undefined
    return Effect.matchEffect(drain(0), {
      onSuccess: () =>
        Effect.sync(() => {
          // The operations that an earlier timed flush could not write are durable now.
          if (flushError?._tag !== "AmbiguousWriteError") flushError = undefined
        }),
      onFailure: (error) =>
        Effect.zipRight(
          Effect.sync(() => {
            flushError = error
          }),
          Effect.logWarning(`a writer's timed flush failed: ${error.message} (${error.hint})`)
        )
    })
  })

  /** Fails once with the error of a timed flush. */
  const failIfFlushFailed = Effect.suspend((): Effect.Effect<void, WriteError> => {
    const error = flushError
    flushError = undefined
    return error === undefined ? Effect.void : Effect.zipRight(resetTimer, Effect.fail(error))
  })

  const add = (
    kind: Queue.Queued["kind"],
    given: CollectionLike,
    id: string,
    document?: unknown,
    anyId?: boolean
  ): Effect.Effect<void, WriteError> =>
    Effect.gen(function* () {
      const operation = `Writer.${kind}`
      if (isEnded) return yield* closed(operation)
      yield* failIfFlushFailed
      const since = yield* Monotonic.millis
      const refusal = () => (isEnded ? closed(operation) : undefined)
      yield* pending.add({ operation, kind, given, id, document, anyId, since, refusal })
      if (pending.all.length >= maxOperations)
        yield* Effect.tapError(drain(maxOperations - 1), () => resetTimer)
      else if (timer === undefined && draining === undefined) yield* setTimer(0)
    })

  return {
    writer: {
      put: (collection, id, document) => add("put", collection, id, document),
      insert: (collection, document, given) =>
        Effect.flatMap(given?.id === undefined ? core.nextId : Effect.succeed(given.id), (id) =>
          Effect.as(add("insert", collection, id, document, given?.id === undefined), id)
        ),
      delete: (collection, id) => add("delete", collection, id),
      flush: Effect.suspend((): Effect.Effect<Option.Option<string>, WriteError> => {
        if (isEnded) return closed("Writer.flush")
        if (flushError?._tag === "AmbiguousWriteError") return Effect.as(failIfFlushFailed, Option.none())
        flushError = undefined
        return Effect.tapError(drain(0), () => resetTimer)
      }).pipe(Effect.withSpan("Writer.flush")),
      discard: Effect.suspend(() => {
        const dropped = pending.all.slice(taken)
        pending.remove(dropped)
        return Effect.as(setTimer(0), dropped.length)
      }),
      pending: Effect.sync(() => pending.all.length),
      commits: Effect.sync(() => [...ids])
    },
    finish: Effect.suspend(() => {
      const lost = flushError?._tag === "AmbiguousWriteError" ? flushError : undefined
      return Effect.zipRight(drainAndEnd, lost ?? Effect.void)
    }),
    written,
    left: Effect.sync(() => ({ items: [...pending.all], taken })),
    close: Effect.suspend(() => {
      isEnded = true
      return setTimer(0)
    })
  }
}

const interrupted = () =>
  new AmbiguousWriteError({
    operation: "Writer.flush",
    message: "a commit was interrupted: whether it was made is unknown"
  })

const closed = (operation: string) =>
  new ValidationError({
    operation,
    message: "this writer has ended",
    hint: "use a writer inside the function that was given it"
  })

/**
 * The error of a last flush that exceeded its time limit: the operations in progress may have been written, the waiting
 * ones were not.
 */
const lastFlushTimeout = ({ items, taken }: Effect.Effect.Success<OpenWriter["left"]>) => {
  const fields = {
    operation: "Store.writer",
    message: `the last flush took longer than ${Duration.toSeconds(lastFlushLimit)} seconds`
  }
  if (taken === 0) return withUnwritten(new RemoteError({ ...fields, reason: "Timeout" }), items)
  const perhaps = `perhaps written: ${names(items.slice(0, taken))}`
  const told = items.length === taken ? perhaps : `${perhaps}; not written: ${names(items.slice(taken))}`
  return withUnwritten(new AmbiguousWriteError(fields), items, told)
}

/** One flush with a time limit. The operations that it could not write are logged and named by the error. */
const boundedFlush = ({ finish, left }: OpenWriter): Effect.Effect<void, WriteError> =>
  finish.pipe(
    Effect.timeoutOption(lastFlushLimit),
    Effect.flatMap((done) =>
      Effect.flatMap(left, (waiting) =>
        Option.isSome(done) || waiting.items.length === 0
          ? Effect.void
          : Effect.fail(lastFlushTimeout(waiting))
      )
    ),
    Effect.tapError((error) =>
      Effect.logError(`a writer ended with operations that are not durable: ${error.message} (${error.hint})`)
    )
  )

/** Removes the names of unwritten operations from a failure, because they were written after all. */
const withoutUnwritten = <E>(cause: Cause.Cause<E>): Cause.Cause<E> =>
  Cause.map(cause, (error) => {
    const original = typeof error === "object" && error !== null ? originals.get(error) : undefined
    return original === undefined || original._tag === "AmbiguousWriteError" ? error : (original as E)
  })

/** The result of a writer after the last flush. */
const resultOf = <A>({ writer, written }: OpenWriter, result: A) =>
  Effect.tap(
    Effect.map(writer.commits, (commits) => ({ result, commits })),
    ({ commits }) =>
      Effect.annotateCurrentSpan({
        documents: written.size,
        ...(commits.length > 0 && { commit: commits.at(-1) })
      })
  )

/** Writers over a core: operations are committed together; the effect includes the last flush. */
export const makeWriter =
  (core: StoreCore): StoreService["writer"] =>
  (options, body) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const opened = open(core, options, scope)
        const exit = yield* Effect.exit(restore(runBody("Store.writer", body, guardWriter(opened.writer))))
        const end = Exit.isSuccess(exit) ? yield* Effect.exit(restore(opened.finish)) : Exit.void
        if (Exit.isSuccess(exit) && Exit.isSuccess(end)) {
          yield* Effect.zipRight(opened.close, Scope.close(scope, Exit.void))
          return yield* resultOf(opened, exit.value)
        }
        const last = yield* inDaemonFiber(boundedFlush(opened))
        yield* opened.close
        // Not awaited, so that a hanging write does not block the caller beyond the time limit.
        yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
        if (Exit.isFailure(exit)) {
          return yield* Exit.isFailure(last)
            ? Effect.failCause(Cause.sequential(exit.cause, last.cause))
            : Effect.failCause(withoutUnwritten(exit.cause))
        }
        if (Exit.isFailure(last)) return yield* Effect.failCause(last.cause)
        if (Exit.isFailure(end) && isFinal(end.cause)) return yield* Effect.failCause(end.cause)
        return yield* resultOf(opened, exit.value)
      })
    )

/** Whether a later flush cannot help: the writer was interrupted, or the result of a write is unknown. */
const isFinal = (cause: Cause.Cause<WriteError>) =>
  !Option.exists(Cause.failureOption(cause), ({ _tag }) => _tag !== "AmbiguousWriteError")
