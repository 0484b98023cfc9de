import { type Dirent, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs"
import { dirname, join, resolve, sep } from "node:path"
import type * as Effect from "effect/Effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt, EngineError } from "./EngineError.js"
import { fsyncPathSync, hasErrorCode } from "./FileOperations.js"

/** Whether something lies at a path. */
export const pathExists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/** Whether a directory holds the HEAD of a repository: one that is a symbolic link may lead to a branch that is not there. */
export const hasHead = (directory: string): boolean =>
  lstatSync(join(directory, "HEAD"), { throwIfNoEntry: false }) !== undefined

/**
 * The paths of all files below a directory, relative to `root`. Symbolic links are followed, but not in circles.
 * Directories that `mayHold` refuses are left out, and so are those that others remove meanwhile.
 */
export function* filesBelow(
  root: string,
  directory: string,
  mayHold: (directory: string) => boolean = () => true,
  followed: ReadonlyArray<string> = []
): Generator<string> {
  let entries: Array<Dirent>
  try {
    entries = readdirSync(join(root, directory), { withFileTypes: true })
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT", "ENOTDIR")) return
    throw cause
  }
  for (const entry of entries) {
    const name = `${directory}/${entry.name}`
    if (entry.isDirectory()) {
      if (mayHold(name)) yield* filesBelow(root, name, mayHold, followed)
      continue
    }
    const target = entry.isSymbolicLink() ? directoryAt(join(root, name)) : undefined
    if (target === undefined) yield name
    else if (mayHold(name) && !isCircle(target, [realpathSync(join(root, directory)), ...followed])) {
      yield* filesBelow(root, name, mayHold, [...followed, target])
    }
  }
}

const directoryAt = (path: string): string | undefined =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? realpathSync(path) : undefined

const isCircle = (target: string, above: ReadonlyArray<string>): boolean =>
  above.some((directory) => directory === target || directory.startsWith(`${target}${sep}`))

/**
 * The directory and those above it, for their owner alone, one by one: Node's recursive way never ends where a file system
 * answers ENOENT, as /proc does, and says ENOENT of a disk that is read-only.
 */
export const makeDirectorySync = (path: string, durable = true): void => {
  if (pathExists(path)) return
  makeDirectorySync(dirname(path), durable)
  try {
    mkdirSync(path, { mode: 0o700 })
    if (durable) fsyncPathSync(dirname(path))
  } catch (cause) {
    if (!pathExists(path)) throw cause
  }
}

/** Makes a directory that others then fill. */
export const makeDirectory = (directory: string): Effect.Effect<void, RemoteError> =>
  attempt("Directory.make", directory, () => {
    try {
      makeDirectorySync(resolve(directory))
    } catch (cause) {
      throw new EngineError(
        "Denied",
        `the directory ${directory} cannot be made: ${cause instanceof Error ? cause.message : cause}`,
        "choose another, with --directory or CHAINSTORE_DATA"
      )
    }
  })
