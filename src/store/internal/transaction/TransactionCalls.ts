import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { inDaemonFiber } from "../../../domain/concurrency/DaemonFiber.js"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { type Edit, nameOfDocument } from "../commit/DocumentEdit.js"
import type { EnclosingTransaction, Snapshot, StoreCore } from "../commit/StoreCore.js"

const closed = (operation: string) =>
  new ValidationError({
    operation,
    message: "this transaction has ended: it was either published or discarded",
    hint: "use it inside its function or effect, and await its reads and writes"
  })

/**
 * Tracks the calls of one transaction: a write is either published with it or refused, and no call reads the branch
 * after it is deleted.
 */
export const makeTransactionCalls = () => {
  const quiet = Effect.unsafeMakeLatch(true)
  let running = 0
  let ended = false
  /** The branch is deleted while calls are still running. */
  let abandoned = false
  let last: Oid | undefined
  const written = new Set<string>()
  const recordWrites = (names: Iterable<string>) => {
    for (const name of names) written.add(name)
  }
  const begin = Effect.sync(() => {
    running++
    quiet.unsafeClose()
  })
  const done = Effect.sync(() => {
    if (--running === 0) quiet.unsafeOpen()
  })

  const call = <A, E, R>(
    operation: string,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | ValidationError, R> =>
    Effect.suspend((): Effect.Effect<A, E | ValidationError, R> => {
      if (ended) return closed(operation)
      const answer = Effect.acquireUseRelease(
        begin,
        () => Effect.exit(effect),
        () => done
      )
      return Effect.flatMap(
        answer,
        (exit): Effect.Effect<A, E | ValidationError> =>
          abandoned && !Exit.isInterrupted(exit) ? closed(operation) : exit
      )
    })

  const read = <A, E>(effect: Effect.Effect<A, E>) => call("Store.transaction", effect)

  const reading = (of: Snapshot): Snapshot => ({
    ...of,
    head: read(of.head),
    prefetch: (wants) => read(of.prefetch(wants)),
    file: (path, options) => read(of.file(path, options)),
    files: (paths, options) =>
      Stream.unwrap(
        read(
          Effect.sync(() =>
            Stream.mapChunksEffect(of.files(paths, options), (blobs) => read(Effect.succeed(blobs)))
          )
        )
      ),
    directory: (path, options) => read(of.directory(path, options)),
    get untracked() {
      return reading(of.untracked)
    }
  })

  return {
    /** A core that counts its calls and refuses them once the transaction has ended. */
    of: (core: StoreCore, own: Omit<EnclosingTransaction, "nested" | "recordWrites">): StoreCore => ({
      ...core,
      transaction: {
        ...own,
        recordWrites,
        nested: (effect) =>
          Effect.tap(call("Store.transaction", effect), ({ commitSha }) =>
            Effect.sync(() => {
              if (Option.isSome(commitSha)) last = commitSha.value as Oid
            })
          )
      },
      snapshot: () => reading(core.snapshot()),
      write: (edit: Edit) =>
        Effect.tap(call(edit.operation, core.write(edit)), ({ committed, documents }) =>
          Effect.sync(() => {
            recordWrites(documents.map(nameOfDocument))
            if (Option.isSome(committed)) last = committed.value.commit
          })
        )
    }),
    /** The documents that were written, by `nameOfDocument`. */
    written: written as ReadonlySet<string>,
    /** Refuses further calls and waits for the running ones. Returns the last known commit. */
    end: Effect.suspend(() => {
      ended = true
      return Effect.map(quiet.await, () => last)
    }),
    /** The same with a time limit; calls that are still running then fail because the transaction has ended. */
    abandon: (patience: Duration.Duration) =>
      Effect.suspend(() => {
        ended = true
        return Effect.map(inDaemonFiber(Effect.timeoutOption(quiet.await, patience)), () => {
          abandoned = true
        })
      })
  }
}
