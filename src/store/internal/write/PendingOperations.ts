import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { ConflictError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import { type CollectionLike, nameIn } from "../../CollectionDefinition.js"
import * as Queue from "./OperationQueue.js"

/** An operation in the queue; its document is unknown until it has been checked. */
export interface PendingOperation extends Queue.Queued {
  readonly since: number
  document: JsonObject | undefined
  isChecking: boolean
  /** Whether it was written, discarded or refused. */
  isRemoved: boolean
  /** The previous operation on the same document. */
  before: PendingOperation | undefined
  /** Opens when the check ends; created only if another operation waits for it. */
  checked: Effect.Latch | undefined
}

interface Addition {
  readonly operation: string
  readonly kind: Queue.Queued["kind"]
  readonly given: CollectionLike
  readonly id: string
  readonly document: unknown
  readonly anyId: boolean | undefined
  /** The time at which the operation was queued, in milliseconds. */
  readonly since: number
  /** The error if the queue has ended meanwhile. */
  readonly refusal: () => ValidationError | undefined
}

/** Waits until an operation is checked or removed. */
const checked = (place: PendingOperation): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (!place.isChecking) return Effect.void
    place.checked ??= Effect.unsafeMakeLatch()
    return place.checked.await
  })

/**
 * The operations of a queue in the order of the calls. Each enters the queue when it is called and is checked
 * afterwards, because checking a large document takes longer than checking the small one that follows it.
 */
export class PendingOperations {
  private queue: Array<PendingOperation> = []
  /** The newest operation on each document. */
  private readonly newest = new Map<string, PendingOperation>()

  get all(): ReadonlyArray<PendingOperation> {
    return this.queue
  }

  get documents(): number {
    return this.newest.size
  }

  /** Queues an operation and checks it. An operation that is refused, or whose caller is interrupted, is removed. */
  add({
    anyId,
    document,
    given,
    id,
    kind,
    operation,
    refusal,
    since
  }: Addition): Effect.Effect<void, ValidationError | ConflictError> {
    // Uninterruptible, so that every queued operation is also checked or removed.
    return Effect.uninterruptibleMask((restore) => {
      const collection = nameIn(given)
      const problem = Queue.checkNames(operation, collection, id)
      if (problem !== undefined) return problem
      const place = this.take(kind, collection, id, since)
      return restore(
        Effect.flatMap(
          Effect.zipLeft(Queue.queued(operation, kind, given, id, document, anyId), TimeSlice.yieldIfSpent()),
          (item): Effect.Effect<void, ValidationError | ConflictError> => {
            place.document = item.document
            const ended = refusal()
            if (ended !== undefined) return ended
            return kind === "insert" ? this.absent(operation, place) : Effect.void
          }
        )
      ).pipe(
        Effect.onExit((exit) =>
          Effect.suspend(() => {
            if (exit._tag === "Failure" && !place.isRemoved) this.remove([place])
            place.isChecking = false
            return place.checked === undefined ? Effect.void : place.checked.open
          })
        )
      )
    })
  }

  /** Waits until the first `count` operations are checked. */
  awaitChecks(count?: number): Effect.Effect<void> {
    return Effect.suspend(() => Effect.forEach(this.queue.slice(0, count), checked, { discard: true }))
  }

  /** The first operations, up to the first one that is not checked yet. */
  ready(count?: number): ReadonlyArray<PendingOperation> {
    const first = this.queue.slice(0, count)
    const open = first.findIndex(({ isChecking }) => isChecking)
    return open < 0 ? first : first.slice(0, open)
  }

  /** Removes operations from the queue. */
  remove(places: ReadonlyArray<PendingOperation>): void {
    for (const place of places) place.isRemoved = true
    // Usually the last operation or all of them are removed.
    if (places.length === 1 && this.queue.at(-1) === places[0]) this.queue.pop()
    else this.queue = this.queue.filter(({ isRemoved }) => !isRemoved)
    for (const place of places) {
      const key = Queue.keyOf(place.collection, place.id)
      const before = this.before(place)
      if (this.newest.get(key) !== place) continue
      if (before === undefined) this.newest.delete(key)
      else this.newest.set(key, before)
    }
  }

  private take(kind: Queue.Queued["kind"], collection: string, id: string, since: number): PendingOperation {
    const key = Queue.keyOf(collection, id)
    const before = this.newest.get(key)
    const place: PendingOperation = {
      kind,
      collection,
      id,
      since,
      document: undefined,
      isChecking: true,
      isRemoved: false,
      before,
      checked: undefined
    }
    this.queue.push(place)
    this.newest.set(key, place)
    return place
  }

  /** The previous operation on the same document that is still in the queue. */
  private before(place: PendingOperation): PendingOperation | undefined {
    // Removed operations are unlinked, so that the chain does not keep them in memory.
    while (place.before?.isRemoved === true) place.before = place.before.before
    return place.before
  }

  /** Refuses the insert of a document that the queue already writes; waits until the earlier operations are checked. */
  private absent(operation: string, place: PendingOperation): Effect.Effect<void, ConflictError> {
    return Effect.suspend(() => {
      const before = this.before(place)
      if (before === undefined) return Effect.void
      if (before.isChecking) return Effect.zipRight(checked(before), this.absent(operation, place))
      return before.kind === "delete"
        ? Effect.void
        : Queue.alreadyQueued(operation, place.collection, place.id)
    })
  }
}
