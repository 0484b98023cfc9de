import { Effect, Option } from "effect"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"

/**
 * Whether a new ref would conflict with an existing one. Git stores refs as files, so a ref cannot be inside another
 * one.
 */
export const hasConflict = (git: GitRepository, name: string): Effect.Effect<boolean, RemoteError> =>
  Effect.gen(function* () {
    const parts = name.split("/")
    for (let length = 3; length < parts.length; length++) {
      if (Option.isSome(yield* git.ref(parts.slice(0, length).join("/")))) return true
    }
    return (yield* git.refs(`${name}/`)).length > 0
  })

/** Creates a ref. Fails with `taken` if it exists, and with `clash` if it conflicts with another ref. */
export const create = <E1, E2>(
  git: GitRepository,
  name: string,
  oid: Oid,
  { clash, taken }: { readonly taken: E1; readonly clash: E2 }
): Effect.Effect<void, E1 | E2 | RemoteError | AmbiguousWriteError> =>
  Effect.gen(function* () {
    if (Option.isSome(yield* git.ref(name))) return yield* Effect.fail(taken)
    if (yield* hasConflict(git, name)) return yield* Effect.fail(clash)
    yield* git.updateRef(name, Option.none(), Option.some(oid)).pipe(
      Effect.catchAll(
        (error): Effect.Effect<never, E1 | E2 | RemoteError | AmbiguousWriteError> =>
          error instanceof RefMoved
            ? Effect.fail(taken)
            : // A conflicting ref may have been created since the check.
              Effect.flatMap(hasConflict(git, name), (inTheWay) => Effect.fail(inTheWay ? clash : error))
      )
    )
  })
