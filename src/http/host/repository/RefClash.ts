import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/StoreError.js"
import type { GitRepository } from "../../../git/disk/GitRepository.js"

/** Whether a new ref could not be: Git keeps refs as files, so none has another below it. */
export const clashes = (git: GitRepository, name: string): Effect.Effect<boolean, RemoteError> =>
  Effect.gen(function* () {
    const parts = name.split("/")
    for (let length = 3; length < parts.length; length++) {
      if (Option.isSome(yield* git.ref(parts.slice(0, length).join("/")))) return true
    }
    return (yield* git.refs(`${name}/`)).length > 0
  })
