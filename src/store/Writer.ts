import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { AmbiguousWriteError, RemoteError, ValidationError } from "../domain/StoreError.js"
import type { WriteError } from "./Collection.js"
import { detached } from "./internal/Detached.js"
import * as Queue from "./internal/OperationQueue.js"
import type { StoreCore } from "./internal/StoreCore.js"
import type { StoreService, Writer, WriterOptions } from "./StoreService.js"

/** How long the last flush may take when the body failed or was interrupted. */
const lastFlush = Duration.seconds(5)

interface Waiting extends Queue.Queued {
  readonly since: number
}

const targets = (items: ReadonlyArray<Waiting>) =>
  Array.from(
    new Map(items.map(({ collection, id }) => [Queue.keyOf(collection, id), { collection, id }])).values()
  )

const names = (items: ReadonlyArray<Waiting>) => {
  const all = targets(items).map(({ collection, id }) => Queue.keyOf(collection, id))
  return all.length <= 10 ? all.join(", ") : `${all.slice(0, 10).join(", ")} and ${all.length - 10} more`
}

/** What errors said before a writer told more: a remote may fail with one error again and again. */
const hints = new WeakMap<WriteError, string | undefined>()

/** The same error, naming what is not durable because of it. */
const telling = <E extends WriteError>(error: E, items: ReadonlyArray<Waiting>): E => {
  const lost = error._tag === "AmbiguousWriteError"
  const told = `${lost ? "perhaps written" : "not yet written"}: ${names(items)}`
  const hint = hints.has(error) ? hints.get(error) : error.hint
  hints.set(error, hint)
  return Object.assign(error, {
    unwritten: targets(items),
    hint: hint === undefined ? told : `${hint}; ${told}`
  })
}

interface OpenWriter {
  readonly writer: Writer
  /** Commits everything, whatever failed before. */
  readonly finish: Effect.Effect<void, WriteError>
  readonly left: Effect.Effect<ReadonlyArray<Waiting>>
  readonly close: Effect.Effect<void>
}

const open = (core: StoreCore, options: WriterOptions, scope: Scope.Scope): OpenWriter => {
  const maxOperations = options.maxOperations ?? 50
  const maxSeconds = options.maxSeconds ?? 5
  const turn = Effect.unsafeMakeSemaphore(1)
  const made: Array<string> = []
  /** In the order of the calls. The first `taken` are being written. */
  const queue: Array<Waiting> = []
  let taken = 0
  let failed: WriteError | undefined
  let timer: Fiber.Fiber<void> | undefined
  let draining: Fiber.Fiber<Option.Option<string>, WriteError> | undefined
  let ended = false

  /** Writes the oldest operations as one commit, unless only `least` wait. */
  const writeSome = (least: number) =>
    Effect.suspend((): Effect.Effect<Option.Option<string>, WriteError> => {
      if (queue.length <= least) return Effect.succeedNone
      const items = queue.slice(0, maxOperations)
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
              if (Exit.isSuccess(exit) || Option.isSome(Cause.failureOption(exit.cause))) return
              queue.splice(0, items.length)
              failed = telling(interrupted(), items)
            })
          ),
          Effect.map((outcome) => {
            queue.splice(0, items.length)
            const sha = Option.map(outcome.committed, ({ commit }) => commit as string)
            if (Option.isSome(sha)) made.push(sha.value)
            return sha
          }),
          Effect.mapError((error) => {
            if (error._tag !== "AmbiguousWriteError") return telling(error, queue)
            queue.splice(0, items.length)
            return telling(error, items)
          })
        )
    }).pipe(turn.withPermits(1))

  const drainNow = (least: number) =>
    Effect.gen(function* () {
      let last = Option.none<string>()
      while (queue.length > least) {
        const sha = yield* writeSome(least)
        if (Option.isSome(sha)) last = sha
      }
      return last
    })

  /**
   * Writes until at most `least` operations wait. It runs beside its callers: one that is interrupted leaves a commit
   * that is under way alone, so that what became of it is known.
   */
  const drain = (least: number): Effect.Effect<Option.Option<string>, WriteError> =>
    Effect.suspend(() => {
      const running = draining
      if (running !== undefined) {
        return Effect.flatMap(Fiber.join(running), (sha) =>
          queue.length > least ? drain(least) : Effect.succeed(sha)
        )
      }
      let over = false
      const loop = Effect.onExit(drainNow(least), (exit) =>
        Effect.suspend(() => {
          over = true
          draining = undefined
          return Exit.isSuccess(exit) ? arm(0) : Effect.void
        })
      )
      return Effect.flatMap(Effect.forkIn(Effect.interruptible(loop), scope), (fiber) => {
        // It may have come to its end before this fibre went on.
        if (!over) draining = fiber
        return Fiber.join(fiber)
      })
    })

  /** Ends in the moment in which nothing waits: what is queued later is refused, never lost. */
  const drainAndEnd: Effect.Effect<void, WriteError> = Effect.flatMap(drain(0), () =>
    Effect.suspend(() => {
      if (queue.length > 0) return drainAndEnd
      ended = true
      return Effect.void
    })
  )

  /** Sets the timer for the oldest operation, not sooner than `least` milliseconds from now. */
  const arm = (least: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const running = timer
      timer = undefined
      const stop = running === undefined ? Effect.void : Fiber.interruptFork(running)
      const oldest = queue[taken]
      if (oldest === undefined || ended) return stop
      return Effect.gen(function* () {
        yield* stop
        const now = yield* Clock.currentTimeMillis
        const wait = Math.max(least, oldest.since + maxSeconds * 1000 - now)
        timer = yield* Effect.forkIn(
          Effect.interruptible(Effect.zipRight(Effect.sleep(Duration.millis(wait)), onTimer)),
          scope
        )
      })
    })
  const armAgain = Effect.suspend(() => arm(maxSeconds * 1000))

  const onTimer: Effect.Effect<void> = Effect.suspend(() => {
    timer = undefined
    return Effect.catchAll(Effect.asVoid(drain(0)), (error) =>
      Effect.zipRight(
        Effect.sync(() => {
          failed = error
        }),
        Effect.logWarning(`a writer's timed flush failed: ${error.message} (${error.hint})`)
      )
    )
  })

  /** Fails once with what the timer met. */
  const raise = Effect.suspend((): Effect.Effect<void, WriteError> => {
    const error = failed
    failed = undefined
    return error === undefined ? Effect.void : Effect.zipRight(armAgain, Effect.fail(error))
  })

  const add = (
    kind: Queue.Queued["kind"],
    collection: string,
    id: string,
    document?: Queue.Queued["document"]
  ): Effect.Effect<void, WriteError> =>
    Effect.gen(function* () {
      const operation = `Writer.${kind}`
      if (ended) return yield* closed(operation)
      yield* raise
      const item = yield* Queue.queued(operation, kind, collection, id, document)
      const before =
        kind === "insert"
          ? queue.findLast((other) => other.id === id && other.collection === collection)
          : undefined
      if (before !== undefined && before.kind !== "delete") {
        return yield* Queue.alreadyQueued(operation, collection, id)
      }
      const since = yield* Clock.currentTimeMillis
      if (ended) return yield* closed(operation)
      queue.push({ ...item, since })
      if (queue.length >= maxOperations) yield* Effect.tapError(drain(maxOperations - 1), () => armAgain)
      else if (timer === undefined && draining === undefined) yield* arm(0)
    })

  return {
    writer: {
      put: (collection, id, document) => add("put", collection, id, document),
      insert: (collection, document, given) =>
        Effect.flatMap(given?.id === undefined ? core.nextId : Effect.succeed(given.id), (id) =>
          Effect.as(add("insert", collection, id, document), id)
        ),
      delete: (collection, id) => add("delete", collection, id),
      flush: Effect.suspend((): Effect.Effect<Option.Option<string>, WriteError> => {
        if (ended) return closed("Writer.flush")
        if (failed?._tag === "AmbiguousWriteError") return Effect.as(raise, Option.none())
        failed = undefined
        return Effect.tapError(drain(0), () => armAgain)
      }).pipe(Effect.withSpan("Writer.flush")),
      discard: Effect.suspend(() => {
        const dropped = queue.splice(taken).length
        return Effect.as(arm(0), dropped)
      }),
      pending: Effect.sync(() => queue.length),
      commits: Effect.sync(() => [...made])
    },
    finish: Effect.suspend(() => {
      const lost = failed?._tag === "AmbiguousWriteError" ? failed : undefined
      return Effect.zipRight(drainAndEnd, lost ?? Effect.void)
    }),
    left: Effect.sync(() => [...queue]),
    close: Effect.suspend(() => {
      ended = true
      return arm(0)
    })
  }
}

const interrupted = () =>
  new AmbiguousWriteError({
    operation: "Writer.flush",
    message: "a commit was cut off: whether it was made is not known"
  })

const closed = (operation: string) =>
  new ValidationError({
    operation,
    message: "this writer has ended",
    hint: "use a writer inside the function that was given it"
  })

const checked = (options: WriterOptions): ValidationError | undefined => {
  const { maxOperations = 50, maxSeconds = 5 } = options
  if (!Number.isInteger(maxOperations) || maxOperations < 1) {
    return new ValidationError({
      operation: "Store.writer",
      message: "maxOperations is a whole number, at least 1"
    })
  }
  if (!(maxSeconds > 0 && Number.isFinite(maxSeconds))) {
    return new ValidationError({ operation: "Store.writer", message: "maxSeconds is a number above 0" })
  }
  return undefined
}

/** One flush, bounded; what it could not write is logged and is the failure, by id. */
const lastChance = ({ finish, left }: OpenWriter): Effect.Effect<void, WriteError> =>
  finish.pipe(
    Effect.timeoutOption(lastFlush),
    Effect.flatMap((done) =>
      Effect.flatMap(
        left,
        (items): Effect.Effect<void, RemoteError> =>
          Option.isSome(done) || items.length === 0
            ? Effect.void
            : telling(
                new RemoteError({
                  operation: "Store.writer",
                  reason: "Timeout",
                  message: `the last flush took longer than ${Duration.toSeconds(lastFlush)} seconds`
                }),
                items
              )
      )
    ),
    Effect.tapError((error) =>
      Effect.logError(`a writer ended with operations that are not durable: ${error.message} (${error.hint})`)
    )
  )

/** Writers over a core: operations are committed together, and the last flush belongs to the effect. */
export const makeWriter =
  (core: StoreCore): StoreService["writer"] =>
  (options, body) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const problem = checked(options)
        if (problem !== undefined) return yield* problem
        const scope = yield* Scope.make()
        const opened = open(core, options, scope)
        const exit = yield* Effect.exit(restore(Effect.zipLeft(body(opened.writer), opened.finish)))
        if (Exit.isSuccess(exit)) {
          yield* Effect.zipRight(opened.close, Scope.close(scope, Exit.void))
          return { result: exit.value, commits: yield* opened.writer.commits }
        }
        const last = yield* detached(lastChance(opened))
        yield* opened.close
        // Not waited for: a write that hangs beyond the bound may not hang its caller.
        yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
        return yield* Exit.isFailure(last)
          ? Effect.failCause(Cause.sequential(exit.cause, last.cause))
          : Effect.failCause(exit.cause)
      })
    )
