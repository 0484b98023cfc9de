import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { inDaemonFiber } from "../../../domain/concurrency/DaemonFiber.js"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import type { Batch, BatchOptions } from "../../Batch.js"
import type { WriteError } from "../../Collection.js"
import { type CollectionLike, nameIn } from "../../CollectionDefinition.js"
import type { StoreService } from "../../StoreService.js"
import { runBody } from "../calls/Guard.js"
import { guardBatch } from "../calls/Signatures.js"
import { type DocumentPrecondition, nameOfDocument } from "../commit/DocumentEdit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import * as Queue from "./OperationQueue.js"
import { PendingOperations } from "./PendingOperations.js"

const closed = (operation: string) =>
  new ValidationError({
    operation,
    message: "this batch has ended: its operations were committed or discarded",
    hint: "use a batch inside the function that was given it"
  })

interface OpenBatch {
  readonly batch: Batch
  readonly commit: Batch["commit"]
  readonly commitSha: Effect.Effect<Option.Option<string>>
  /** The documents that were written, by `nameOfDocument`. */
  readonly written: ReadonlySet<string>
  readonly close: Effect.Effect<void>
}

const open = (core: StoreCore, options: BatchOptions): OpenBatch => {
  const mutex = Effect.unsafeMakeSemaphore(1)
  const preconditions = new Map<string, DocumentPrecondition>()
  const pending = new PendingOperations()
  const written = new Set<string>()
  let latest: Option.Option<string> = Option.none()
  /** The error of a commit that may have been made while its caller was interrupted: the next call fails with it. */
  let unreportedError: WriteError | undefined
  let ended = false

  const add = (
    kind: Queue.Queued["kind"],
    given: CollectionLike,
    id: string,
    document?: unknown,
    anyId?: boolean
  ): Effect.Effect<void, WriteError> => {
    const operation = `Batch.${kind}`
    const refusal = () => (ended ? closed(operation) : undefined)
    return Effect.suspend(() =>
      ended
        ? closed(operation)
        : pending.add({ operation, kind, given, id, document, anyId, since: 0, refusal })
    )
  }

  const commitChecked: Effect.Effect<Option.Option<string>, WriteError> = Effect.suspend(() => {
    if (ended) return closed("Batch.commit")
    if (unreportedError !== undefined) return Effect.fail(unreportedError)
    const taken = pending.ready()
    const takenPreconditions = new Map(preconditions)
    if (taken.length === 0 && takenPreconditions.size === 0) return Effect.succeedNone
    const operations = Queue.fold(taken)
    /** Removes what was written. Operations may have been discarded and others queued meanwhile. */
    const removeWritten = () => {
      pending.remove(taken)
      for (const [key, precondition] of takenPreconditions) {
        if (preconditions.get(key) === precondition) preconditions.delete(key)
      }
    }
    return core
      .write({
        operation: "Batch.commit",
        message: options.message ?? core.transaction?.message ?? `batch: ${operations.length} operations`,
        mode: "batch",
        operations,
        preconditions: Array.from(takenPreconditions.values())
      })
      .pipe(
        Effect.map((outcome) => {
          removeWritten()
          for (const document of outcome.documents) written.add(nameOfDocument(document))
          const commitSha = Option.map(outcome.committed, (made) => made.commit as string)
          if (Option.isSome(commitSha)) latest = commitSha
          return commitSha
        }),
        // They may have been written, so they are not written again.
        Effect.tapErrorTag("AmbiguousWriteError", (error) =>
          Effect.sync(() => {
            removeWritten()
            unreportedError = error
          })
        )
      )
  })

  /** Commits the operations that were queued before the call, including those that are still being checked. */
  const commit = Effect.zipRight(pending.awaitChecks(), commitChecked).pipe(
    mutex.withPermits(1),
    Effect.withSpan("Batch.commit")
  )

  /** A commit continues if its caller is interrupted, so that its result is known. */
  const commitFromBody = Effect.tapError(Effect.flatten(inDaemonFiber(commit)), (error) =>
    Effect.sync(() => {
      if (unreportedError === error) unreportedError = undefined
    })
  )

  const discard = Effect.sync(() => {
    pending.remove([...pending.all])
    preconditions.clear()
  })

  return {
    batch: {
      put: (collection, id, document) => add("put", collection, id, document),
      insert: (collection, document, given) =>
        Effect.flatMap(given?.id === undefined ? core.nextId : Effect.succeed(given.id), (id) =>
          Effect.as(add("insert", collection, id, document, given?.id === undefined), id)
        ),
      delete: (collection, id) => add("delete", collection, id),
      expect: (given, id, expectation) =>
        Effect.suspend(() => {
          const collection = nameIn(given)
          const problem = ended ? closed("Batch.expect") : Queue.checkNames("Batch.expect", collection, id)
          if (problem !== undefined) return problem
          preconditions.set(Queue.keyOf(collection, id), { collection, id, precondition: expectation })
          return Effect.void
        }),
      commit: commitFromBody,
      discard,
      operations: Effect.sync(() => pending.documents),
      expectations: Effect.sync(() => preconditions.size)
    },
    commit,
    commitSha: Effect.sync(() => latest),
    written,
    close: Effect.zipRight(
      discard,
      Effect.sync(() => {
        ended = true
      })
    )
  }
}

/** Batches over a core: the operations of the body become one commit, or none. */
export const makeBatch =
  (core: StoreCore): StoreService["batch"] =>
  (options, body) =>
    Effect.suspend(() => {
      const { batch, close, commit, commitSha, written } = open(core, options)
      return runBody("Store.batch", body, guardBatch(batch)).pipe(
        Effect.flatMap((result) =>
          Effect.zipRight(
            commit,
            Effect.map(commitSha, (sha) => ({ result, commitSha: sha }))
          )
        ),
        Effect.tap(() => Effect.annotateCurrentSpan("documents", written.size)),
        Effect.ensuring(close)
      )
    })
