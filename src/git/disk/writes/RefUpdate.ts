import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import { type AmbiguousWriteError, RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { isFullRefName } from "../../Names.js"
import { attemptPromise, MissingObject } from "../files/EngineError.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import type { GitRepository } from "../port/GitRepository.js"
import type { RefStore } from "../refs/RefStore.js"
import { unsettled } from "./Flush.js"

export interface RefUpdateOptions {
  readonly directory: string
  readonly objects: ObjectDatabase
  readonly refs: RefStore
  readonly durable: boolean
  /** Waits until an object is no longer staged in this process. */
  readonly settled: (oid: Oid) => Effect.Effect<void>
  /** Runs an update while it holds the mutex of the ref. */
  readonly withRefMutex: <A, E, R>(
    name: string,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RemoteError, R>
}

/** Test-and-set of one ref, after the commits that were queued before it. */
export const make =
  ({
    directory,
    durable,
    objects,
    refs,
    settled,
    withRefMutex
  }: RefUpdateOptions): GitRepository["updateRef"] =>
  (name, expected, next) => {
    const operation = "GitRepository.updateRef"
    if (!isFullRefName(name)) {
      return Effect.fail(
        new RemoteError({
          operation,
          reason: "Denied",
          message: `${JSON.stringify(name)} is not the full name of a ref`,
          hint: "Use a name such as refs/heads/main"
        })
      )
    }
    const update = Effect.flatMap(
      attemptPromise(operation, directory, async (signal) => {
        const target = Option.getOrUndefined(next)
        // A removed pack may still be open, but a ref must not point to its objects.
        if (target !== undefined) objects.files.rescan()
        if (target !== undefined && objects.info(target) === undefined) throw new MissingObject(target)
        return refs.update(name, Option.getOrUndefined(expected), target, durable, signal)
      }),
      (outcome): Effect.Effect<void, RefMoved | AmbiguousWriteError> => {
        switch (outcome._tag) {
          case "Done":
            return Effect.void
          case "Moved":
            return Effect.fail(
              new RefMoved({ ref: name, expected, actual: Option.fromNullable(outcome.actual) })
            )
          case "Unsettled": {
            const fact = Option.isSome(next) ? `${next.value} is on ${name}` : `${name} is deleted`
            return Effect.fail(unsettled(operation, directory, fact, outcome.cause))
          }
        }
      }
    )
    const afterStaged = Option.isSome(next) ? Effect.zipRight(settled(next.value), update) : update
    return withRefMutex(name, afterStaged)
  }
