import mutable from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { Effect } from "effect"

type Replaceable =
  | ("fsync" | "fsyncSync" | "linkSync" | "mkdirSync" | "openSync" | "readSync" | "readdirSync")
  | "readlinkSync"
  | ("renameSync" | "rmSync" | "statSync" | "unlinkSync" | "utimesSync" | "writeSync" | "writevSync")

type Replacements = { readonly [name in Replaceable]?: (real: any) => any }

/** Replaces functions of `node:fs` in this process. The returned function restores them. */
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

/** Runs an effect while functions of `node:fs` are replaced. */
export const withReplaced = <A, E, R>(replacements: Replacements, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => replace(replacements)),
    () => effect,
    (undo) => Effect.sync(undo)
  )

/** The error of a refused system call. */
export const refusal = (code: "EACCES" | "EINVAL" | "EIO" | "EMFILE" | "ENOSPC" | "EROFS") =>
  Object.assign(new Error(`${code}: refused by this test`), { code })

/** A function that always fails with an error code. */
export const refusing = (code: Parameters<typeof refusal>[0]) => () => () => {
  throw refusal(code)
}

/** Fails to sync files whose paths satisfy `fails`. */
export const failingFsync =
  (fails: (path: string) => boolean) =>
  (real: typeof mutable.fsync) =>
  (fd: number, done: (cause: Error | null) => void) =>
    fails(mutable.readlinkSync(`/proc/self/fd/${fd}`)) ? done(refusal("EIO")) : real(fd, done)
