import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { RefMoved } from "../../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, ConflictError } from "../../../../domain/errors/StoreError.js"
import { branchError, pathError } from "../../../../git/Names.js"
import type { RemoteFailure } from "../../GitRemote.js"
import { type ApiFailure, isApiFailure } from "./ApiFailure.js"
import { readOnly, translate } from "./ErrorTranslation.js"
import { withOperation } from "./OperationContext.js"

type Known = RemoteFailure | RefMoved | ConflictError | AmbiguousWriteError

/** Runs an operation of the port with its span and deadline, and translates its failures. */
export const makeRemoteOperation =
  (deadline: Duration.Duration) =>
  (name: string, path?: string) =>
  <A, E extends Known, R>(
    self: Effect.Effect<A, E | ApiFailure, R>
  ): Effect.Effect<A, Exclude<E, ApiFailure> | RemoteFailure, R> =>
    self.pipe(
      Effect.catchIf(isApiFailure, translate({ operation: `GitRemote.${name}`, path })),
      withOperation(name, deadline, path === undefined ? {} : { path })
    ) as Effect.Effect<A, Exclude<E, ApiFailure> | RemoteFailure, R>

export type RemoteOperation = ReturnType<typeof makeRemoteOperation>

/** Fails for invalid names of branches and paths, and for every write of a read-only store. */
export const makeWriteCheck =
  (forReading: boolean) =>
  (name: string, branch: string, ...paths: ReadonlyArray<string>) =>
    Effect.suspend((): Effect.Effect<void, RemoteFailure> => {
      const operation = `GitRemote.${name}`
      if (forReading) return Effect.fail(readOnly(operation))
      const wrong =
        branchError(operation, branch) ??
        paths.map((path) => pathError(operation, path)).find((error) => error !== undefined)
      return wrong === undefined ? Effect.void : Effect.fail(wrong)
    })

export type WriteCheck = ReturnType<typeof makeWriteCheck>
