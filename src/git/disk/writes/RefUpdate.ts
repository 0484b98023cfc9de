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
  /** Waits until an object is not known to this process alone. */
  readonly settled: (oid: Oid) => Effect.Effect<void>
  /** Runs what moves a ref in the ref's turn. */
  readonly inTurn: <A, E, R>(
    name: string,
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RemoteError, R>
}

/** Test-and-set of one ref, after everything queued before it. */
export const make =
  ({ directory, durable, inTurn, objects, refs, settled }: RefUpdateOptions): GitRepository["updateRef"] =>
  (name, expected, next) => {
    const operation = "GitRepository.updateRef"
    if (!isFullRefName(name)) {
      return Effect.fail(
        new RemoteError({
          operation,
          reason: "Denied",
          message: `${JSON.stringify(name)} is no whole name of a ref`,
          hint: "Use a name such as refs/heads/main"
        })
      )
    }
    const update = Effect.flatMap(
      attemptPromise(operation, directory, async (signal) => {
        const target = Option.getOrUndefined(next)
        // Packs that are gone from the disk hold nothing that a ref may point to.
        if (target !== undefined) objects.rescan()
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
    const safely = Option.isSome(next) ? Effect.zipRight(settled(next.value), update) : update
    return inTurn(name, safely)
  }
