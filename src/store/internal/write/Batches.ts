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
  /** The documents that were written, by `nameOf`. */
  readonly written: ReadonlySet<string>
  readonly close: Effect.Effect<void>
}

const open = (core: StoreCore, options: BatchOptions): OpenBatch => {
  const mutex = Effect.unsafeMakeSemaphore(1)
  const preconditions = new Map<string, DocumentPrecondition>()
  const pending = new PendingOperations()
  const written = new Set<string>()
  let latest: Option.Option<string> = Option.none()
  /** The error of a commit whose caller was interrupted, and which may have been made: the next call fails with it. */
  let unheard: WriteError | undefined
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
    if (unheard !== undefined) return Effect.fail(unheard)
    const taken = pending.ready()
    const takenPreconditions = new Map(preconditions)
    if (taken.length === 0 && takenPreconditions.size === 0) return Effect.succeedNone
    const operations = Queue.fold(taken)
    /** Somebody may have discarded them meanwhile, and queued others. */
    const settle = () => {
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
          settle()
          for (const document of outcome.documents) written.add(nameOfDocument(document))
          const commitSha = Option.map(outcome.committed, (made) => made.commit as string)
          if (Option.isSome(commitSha)) latest = commitSha
          return commitSha
        }),
        // Perhaps they are written: nothing is written twice.
        Effect.tapErrorTag("AmbiguousWriteError", (error) =>
          Effect.sync(() => {
            settle()
            unheard = error
          })
        )
      )
  })

  /** Commits what was queued before the call, the operations that are still being checked too. */
  const commit = Effect.zipRight(pending.checked(), commitChecked).pipe(
    mutex.withPermits(1),
    Effect.withSpan("Batch.commit")
  )

  /** A caller that is interrupted leaves a commit under way alone, so that what became of it is known. */
  const commitInside = Effect.tapError(Effect.flatten(inDaemonFiber(commit)), (error) =>
    Effect.sync(() => {
      if (unheard === error) unheard = undefined
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
      commit: commitInside,
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

/** Batches over a core: what the body queued is one commit, or nothing. */
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
