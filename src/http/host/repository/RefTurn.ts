import { Effect, Option } from "effect"
import type { Oid } from "../../../domain/Oid.js"
import { RefMoved } from "../../../domain/Ref.js"
import type { RemoteError } from "../../../domain/StoreError.js"
import type { GitRepository } from "../../../git/disk/GitRepository.js"
import type { Problem } from "../reply/Problem.js"
import * as Git from "./Git.js"

/** Moves a ref from where it was; none stands for no ref. */
export type Move<E> = (
  name: string,
  expected: Option.Option<Oid>,
  next: Option.Option<Oid>
) => Effect.Effect<void, E | RefMoved | RemoteError | Problem>

const zeros = "0".repeat(40)

/** `GitRepository.updateRef` for whoever has the writers' turn already, and must not wait for it. */
const byGit =
  (git: GitRepository): Move<never> =>
  (name, expected, next) =>
    Effect.gen(function* () {
      const before = Option.getOrElse(expected, () => zeros)
      const { code } = yield* Git.output({
        directory: git.directory,
        args: Option.isSome(next)
          ? ["update-ref", name, next.value, before]
          : ["update-ref", "-d", name, before]
      })
      if (code !== 0) return yield* new RefMoved({ ref: name, expected, actual: yield* git.ref(name) })
    })

const freeTries = 1

/**
 * Runs what reads a ref, judges it and moves it; again where the ref was moved in between, and at last in the writers'
 * turn, where only other processes can do that: whoever moves a branch that is written all the time would lose every race.
 */
export const moving = <A, E, R>(
  git: GitRepository,
  attempt: (move: GitRepository["updateRef"] | Move<never>) => Effect.Effect<A, E | RefMoved | RemoteError, R>
): Effect.Effect<A, E | RefMoved | RemoteError, R> =>
  Effect.retry(attempt(git.updateRef), {
    times: freeTries,
    while: (error) => error instanceof RefMoved
  }).pipe(
    Effect.catchIf(
      (error) => error instanceof RefMoved,
      () => git.exclusively(attempt(byGit(git)))
    )
  )
