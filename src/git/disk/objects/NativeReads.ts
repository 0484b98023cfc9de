import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Steps from "../../../domain/concurrency/Steps.js"
import { type RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { attemptPromise, MissingObject, toRemoteError } from "../files/EngineError.js"
import type { CatFile } from "../processes/CatFile.js"
import type { ObjectDatabase } from "./ObjectDatabase.js"

export type NativeReads = ReturnType<typeof make>

/** Runs synchronous code over the objects of a repository. Objects that only stock Git finds are read by `git cat-file`. */
export const make = (directory: string, objects: ObjectDatabase, catFile: CatFile) => {
  const onlyRemote = <A>(effect: Effect.Effect<A, RemoteError | ValidationError>) =>
    Effect.catchAll(effect, (error) =>
      error instanceof ValidationError ? Effect.die(error) : Effect.fail(error)
    )

  /** Runs code, and again after each missing object that stock Git has found. */
  const run = <A>(operation: string, body: () => A): Effect.Effect<A, RemoteError> =>
    onlyRemote(runChecked(operation, body))

  const runChecked = <A>(
    operation: string,
    body: () => A
  ): Effect.Effect<A, RemoteError | ValidationError> => {
    const from = (asked: Oid | undefined): Effect.Effect<A, RemoteError | ValidationError> =>
      Effect.suspend(() => {
        try {
          return Effect.succeed(body())
        } catch (cause) {
          return recovered(operation, cause, asked, from)
        }
      })
    return from(undefined)
  }

  /** Runs code in steps. Other fibers run between the steps. */
  const runSteps = <A>(operation: string, start: () => Steps.Steps<A>): Effect.Effect<A, RemoteError> =>
    onlyRemote(runStepsChecked(operation, start))

  const runStepsChecked = <A>(
    operation: string,
    start: () => Steps.Steps<A>
  ): Effect.Effect<A, RemoteError | ValidationError> => {
    const from = (asked: Oid | undefined): Effect.Effect<A, RemoteError | ValidationError> =>
      Effect.catchAllDefect(Steps.run(start), (cause) => recovered(operation, cause, asked, from))
    return from(undefined)
  }

  /** Reads a missing object by stock Git and runs the code again, unless the same object was missing last time. */
  const recovered = <A>(
    operation: string,
    cause: unknown,
    asked: Oid | undefined,
    again: (oid: Oid) => Effect.Effect<A, RemoteError | ValidationError>
  ): Effect.Effect<A, RemoteError | ValidationError> => {
    if (cause instanceof ValidationError) return Effect.fail(cause)
    if (!(cause instanceof MissingObject) || cause.oid === asked) {
      return Effect.fail(toRemoteError(operation, directory, cause))
    }
    const oid = cause.oid as Oid
    return Effect.flatMap(
      attemptPromise(operation, directory, () => catFile.find(oid)),
      (object) => {
        if (object === undefined) return Effect.fail(toRemoteError(operation, directory, cause))
        objects.cacheForeign(oid, object)
        return again(oid)
      }
    )
  }

  /** Finds an object, by stock Git if necessary. */
  const find = (operation: string, oid: Oid) =>
    Effect.flatMap(
      run(operation, () => objects.find(oid)),
      (object) =>
        object !== undefined
          ? Effect.succeedSome(object)
          : Effect.map(
              attemptPromise(operation, directory, () => catFile.find(oid)),
              (found) => {
                if (found !== undefined) objects.cacheForeign(oid, found)
                return Option.fromNullable(found)
              }
            )
    )

  const rootOf = (oid: Oid): Oid => {
    const root = objects.rootOf(oid)
    if (root === undefined) throw new MissingObject(oid)
    return root
  }

  /** The root of a tree to change. A cached one may have been pruned with all that is below it. */
  const storedRootOf = (oid: Oid): Oid => {
    const root = rootOf(oid)
    if (objects.info(root) === undefined) throw new MissingObject(root)
    return root
  }

  return { run, runChecked, runSteps, runStepsChecked, find, rootOf, storedRootOf } as const
}
