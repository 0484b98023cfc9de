import { readdir, rmdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"

const quarantines = async (objects: string): Promise<ReadonlyArray<string>> =>
  (await readdir(objects)).filter((name) => name.startsWith("tmp_objdir-incoming-"))

const names = (objects: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.orElseSucceed(
    Effect.tryPromise(() => quarantines(objects)),
    () => []
  )

/** Removes a directory, if nothing is in it. */
const removeEmpty = (directory: string) => Effect.ignore(Effect.tryPromise(() => rmdir(directory)))

/**
 * Around the program that receives a push. Ended early, Git removes the objects that it kept apart so far, but not the
 * directories that it kept them in.
 */
export const around = <A, E, R>(
  repository: string,
  receive: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  const objects = join(repository, "objects")
  return Effect.flatMap(names(objects), (before) =>
    Effect.onError(receive, () =>
      Effect.gen(function* () {
        for (const name of yield* names(objects)) {
          // Another one is that of another process, which may be at work in it.
          if (before.includes(name)) continue
          yield* removeEmpty(join(objects, name, "pack"))
          yield* removeEmpty(join(objects, name))
        }
      })
    )
  )
}
