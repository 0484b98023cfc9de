import { mkdirSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import type * as Effect from "effect/Effect"
import type { RemoteError } from "../../domain/StoreError.js"
import { fsyncPathSync } from "./Disk.js"
import { attempt, Fault } from "./Fault.js"

/** Whether something lies at a path. */
export const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/**
 * The directory and those above it, for their owner alone, one by one: Node's recursive way never ends where a file system
 * answers ENOENT, as /proc does, and says ENOENT of a disk that is read-only.
 */
export const makePath = (path: string, durable = true): void => {
  if (isThere(path)) return
  makePath(dirname(path), durable)
  try {
    mkdirSync(path, { mode: 0o700 })
    if (durable) fsyncPathSync(dirname(path))
  } catch (cause) {
    if (!isThere(path)) throw cause
  }
}

/** Makes a directory that others then fill. */
export const makeDirectory = (directory: string): Effect.Effect<void, RemoteError> =>
  attempt("Directory.make", directory, () => {
    try {
      makePath(resolve(directory))
    } catch (cause) {
      throw new Fault(
        "Denied",
        `the directory ${directory} cannot be made: ${cause instanceof Error ? cause.message : cause}`,
        "choose another, with --directory or CHAINSTORE_DATA"
      )
    }
  })
