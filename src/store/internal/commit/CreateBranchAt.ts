import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RefMoved } from "../../../domain/errors/RefMoved.js"
import { ConflictError, type WriteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRemoteService } from "../../remote/GitRemote.js"
import type { StoreCore } from "./StoreCore.js"

/** A branch that Git cannot store together with this name, because one name is a directory of the other. */
const conflictingBranch = (core: StoreCore, name: string) =>
  Effect.map(Effect.option(core.remote.listBranches("")), (found) =>
    Option.getOrElse(found, () => []).find(
      (other) => other.name.startsWith(`${name}/`) || name.startsWith(`${other.name}/`)
    )
  )

/** Creates a branch at a commit. If another branch makes its name impossible, the error names that branch. */
export const createBranchAt = (
  core: StoreCore,
  operation: string,
  name: string,
  at: Oid,
  options: Parameters<GitRemoteService["createBranch"]>[2] = {}
): Effect.Effect<void, WriteError | RefMoved> =>
  Effect.catchIf(
    core.remote.createBranch(name, at, options),
    ({ _tag }) => _tag === "RemoteError" || _tag === "ValidationError",
    (error) =>
      Effect.flatMap(conflictingBranch(core, name), (other) =>
        other === undefined
          ? Effect.fail<WriteError | RefMoved>(error)
          : new ConflictError({
              operation,
              message: `there can be no branch ${name} beside the branch ${other.name}`,
              hint: "choose another name, or delete that one first",
              conflicts: [],
              cause: error
            })
      )
  )
