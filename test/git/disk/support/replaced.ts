import mutable from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { Effect } from "effect"

type Replaceable =
  | ("fsync" | "fsyncSync" | "linkSync" | "mkdirSync" | "renameSync")
  | ("unlinkSync" | "utimesSync" | "writeSync" | "writevSync")

type Replacements = { readonly [name in Replaceable]?: (real: any) => any }

/** Has other functions take the place of those of `node:fs`, for this process, until the answer is called. */
export const replace = (replacements: Replacements) => {
  const real = { ...mutable }
  for (const [name, make] of Object.entries(replacements)) {
    ;(mutable as any)[name] = make(real[name as Replaceable])
  }
  syncBuiltinESMExports()
  return () => {
    for (const name of Object.keys(replacements)) (mutable as any)[name] = real[name as Replaceable]
    syncBuiltinESMExports()
  }
}

/** Runs an effect while other functions take the place of those of `node:fs`. */
export const withReplaced = <A, E, R>(replacements: Replacements, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => replace(replacements)),
    () => effect,
    (undo) => Effect.sync(undo)
  )

/** What the system says of a call that it refuses. */
export const refusal = (code: "EIO" | "ENOSPC" | "EROFS") =>
  Object.assign(new Error(`${code}: refused by this test`), { code })

/** A function that refuses every call so. */
export const refusing = (code: Parameters<typeof refusal>[0]) => () => () => {
  throw refusal(code)
}

/** Fails to flush the files that are chosen by their paths. */
export const failingFsync =
  (fails: (path: string) => boolean) =>
  (real: typeof mutable.fsync) =>
  (fd: number, done: (cause: Error | null) => void) =>
    fails(mutable.readlinkSync(`/proc/self/fd/${fd}`)) ? done(refusal("EIO")) : real(fd, done)
