import * as Effect from "effect/Effect"
import type { ConflictError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import { type CollectionLike, nameIn } from "../../CollectionDefinition.js"
import * as Queue from "./OperationQueue.js"

/** One operation's place in a queue: its document is not known while its check is open. */
export interface PendingOperation extends Queue.Queued {
  readonly since: number
  document: JsonObject | undefined
  isChecking: boolean
  /** Whether it was written, dropped, or refused. */
  isRemoved: boolean
  /** The place that the same document had before. */
  before: PendingOperation | undefined
  /** Opens with the end of the check; made when somebody waits for it. */
  awaitChecks: Effect.Latch | undefined
}

interface Addition {
  readonly operation: string
  readonly kind: Queue.Queued["kind"]
  readonly given: CollectionLike
  readonly id: string
  readonly document: unknown
  readonly anyId: boolean | undefined
  /** Milliseconds; when the operation was queued. */
  readonly since: number
  /** The error for an operation of a queue that has ended meanwhile. */
  readonly refusal: () => ValidationError | undefined
}

/** Waits until a place's document is checked, or the place is given up. */
const checked = (place: PendingOperation): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (!place.isChecking) return Effect.void
    place.awaitChecks ??= Effect.unsafeMakeLatch()
    return place.awaitChecks.await
  })

/**
 * The operations of a queue in the order of the calls: each takes its place when it is called, and is checked after that,
 * which takes longer for a large document than for the small one behind it.
 */
export class PendingOperations {
  private queue: Array<PendingOperation> = []
  /** The newest place of each document. */
  private readonly newest = new Map<string, PendingOperation>()

  get all(): ReadonlyArray<PendingOperation> {
    return this.queue
  }

  get documents(): number {
    return this.newest.size
  }

  /** Takes a place and checks the operation. One that is refused, or whose caller is interrupted, gives its place up. */
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
    // No interruption comes between a place that is taken and what gives it up.
    return Effect.uninterruptibleMask((restore) => {
      const collection = nameIn(given)
      const problem = Queue.checkNames(operation, collection, id)
      if (problem !== undefined) return problem
      const place = this.take(kind, collection, id, since)
      return restore(
        Effect.flatMap(
          Queue.queued(operation, kind, given, id, document, anyId),
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
            return place.awaitChecks === undefined ? Effect.void : place.awaitChecks.open
          })
        )
      )
    })
  }

  /** Waits for the checks that are open among the first places. */
  checked(count?: number): Effect.Effect<void> {
    return Effect.suspend(() => Effect.forEach(this.queue.slice(0, count), checked, { discard: true }))
  }

  /** The first operations, up to one whose check is open: what is behind it would go before it. */
  ready(count?: number): ReadonlyArray<PendingOperation> {
    const first = this.queue.slice(0, count)
    const open = first.findIndex(({ isChecking }) => isChecking)
    return open < 0 ? first : first.slice(0, open)
  }

  /** Takes operations out of the queue. */
  remove(places: ReadonlyArray<PendingOperation>): void {
    for (const place of places) place.isRemoved = true
    // Mostly the last one, or all.
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
      awaitChecks: undefined
    }
    this.queue.push(place)
    this.newest.set(key, place)
    return place
  }

  /** The place before it of the same document that is still in the queue. */
  private before(place: PendingOperation): PendingOperation | undefined {
    // Those that have left are forgotten, so that no chain of them stays in memory.
    while (place.before?.isRemoved === true) place.before = place.before.before
    return place.before
  }

  /** Refuses an insert of what the queue already writes: known once what is before it was checked. */
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
