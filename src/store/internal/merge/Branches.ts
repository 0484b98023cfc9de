import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  ConflictError,
  NotFoundError,
  type ReadError,
  RemoteError,
  ValidationError,
  type WriteError
} from "../../../domain/errors/StoreError.js"
import { compareCodePoints } from "../../../domain/text/CodePointOrder.js"
import { branchError, branchProblem } from "../../../git/Names.js"
import type { Branch, CreateBranchOptions } from "../../Branches.js"
import type { Head } from "../../remote/GitRemote.js"
import { readOnlyError } from "../commit/Commit.js"
import { createBranchAt } from "../commit/CreateBranchAt.js"
import type { StoreCore } from "../commit/StoreCore.js"
import type { Snapshot } from "../snapshot/Snapshot.js"
import { checkCreateOptions } from "./BranchArguments.js"

/** The current commit of a branch, or the commit of a tag or another revision. */
export const headNamed = (core: StoreCore, operation: string, name: string): Effect.Effect<Head, ReadError> =>
  Effect.gen(function* () {
    const { remote } = core
    const branch = branchProblem(name) === undefined ? yield* remote.head(name) : Option.none<Head>()
    const found = Option.isSome(branch) ? branch : yield* remote.resolve(name)
    if (Option.isSome(found)) return found.value
    return yield* new NotFoundError({
      operation,
      message: `${remote.name} has no branch, tag or commit ${name}`,
      hint: "list the branches to see what there is"
    })
  })

const unshallow = "where the repository is shallow, complete it first (git fetch --unshallow)"

/** The merge bases of two commits; requires the complete history between them. */
export const mergeBasesOf = (core: StoreCore, ours: Head, theirs: Head) =>
  Effect.mapError(core.remote.mergeBases(ours.commit, theirs.commit), (error) => {
    if (error._tag !== "RemoteError" || (error.reason !== "Corrupt" && error.reason !== "Server"))
      return error
    const { cause, hint, message } = error
    return new RemoteError({
      ...error,
      message,
      cause,
      hint: hint === undefined ? unshallow : `${hint}; ${unshallow}`
    })
  })

/** The head of a core's branch; fails if the repository is empty. */
export const branchHead = (
  core: StoreCore,
  operation: string,
  snapshot: Snapshot
): Effect.Effect<Head, ReadError> =>
  Effect.flatMap(snapshot.head, (head) =>
    Option.isSome(head)
      ? Effect.succeed(head.value)
      : new NotFoundError({
          operation,
          message: `${core.remote.name} is empty: the branch ${core.branch} has no commit`,
          hint: "write a document first"
        })
  )

/** All branches, by name. */
export const listBranches = (core: StoreCore): Effect.Effect<ReadonlyArray<Branch>, ReadError> =>
  Effect.map(core.remote.listBranches(""), (found) =>
    found
      .map(({ commit, name }): Branch => ({ name, commitSha: commit }))
      .sort((a, b) => compareCodePoints(a.name, b.name))
  )

const refuseInTransaction = (core: StoreCore, operation: string): Effect.Effect<void, ValidationError> =>
  core.transaction === undefined
    ? Effect.void
    : new ValidationError({
        operation,
        message:
          "a transaction cannot create or delete branches: others would see it before the transaction ends",
        hint: "do it before the transaction or after it"
      })

/** Creates a branch at a commit, and returns the commit. */
export const createBranch = (
  core: StoreCore,
  name: string,
  options: CreateBranchOptions = {}
): Effect.Effect<string, WriteError> =>
  Effect.gen(function* () {
    const operation = "Store.createBranch"
    yield* checkCreateOptions(operation, options)
    const { from } = options
    yield* refuseInTransaction(core, operation)
    if (core.options.readOnly) return yield* readOnlyError(operation)
    const wrong = branchError(operation, name)
    if (wrong !== undefined) return yield* wrong
    const at =
      from === undefined
        ? yield* branchHead(core, operation, core.snapshot())
        : yield* headNamed(core, operation, from)
    yield* createBranchAt(core, operation, name, at.commit).pipe(
      Effect.catchTag(
        "RefMoved",
        ({ actual }) =>
          new ConflictError({
            operation,
            message: `the branch ${name} exists already${Option.isSome(actual) ? `, at ${actual.value.slice(0, 7)}` : ""}`,
            hint: "choose another name, or delete it first",
            conflicts: []
          })
      )
    )
    return at.commit
  })

/** Deletes a branch; succeeds if it does not exist. */
export const deleteBranch = (core: StoreCore, name: string): Effect.Effect<void, WriteError> =>
  Effect.gen(function* () {
    const operation = "Store.deleteBranch"
    yield* refuseInTransaction(core, operation)
    if (core.options.readOnly) return yield* readOnlyError(operation)
    const wrong = branchError(operation, name)
    if (wrong !== undefined) return yield* wrong
    if (name === core.branch) {
      return yield* new ValidationError({
        operation,
        message: `${name} is the branch of this store`,
        hint: "open the store on another branch to delete it"
      })
    }
    yield* core.remote.deleteBranch(name)
  })
