import { type Dirent, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs"
import { dirname, join, resolve, sep } from "node:path"
import type * as Effect from "effect/Effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt, EngineError } from "./EngineError.js"
import { fsyncPathSync, hasErrorCode } from "./FileOperations.js"

/** Whether a file or directory exists. */
export const pathExists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/** Whether a directory has a HEAD. It may be a symbolic link to a missing branch, so it is not followed. */
export const hasHead = (directory: string): boolean =>
  lstatSync(join(directory, "HEAD"), { throwIfNoEntry: false }) !== undefined

/**
 * The paths of all files below a directory, relative to `root`. Symbolic links are followed, except in cycles. Directories for
 * which `mayContain` is false, or which another process removes meanwhile, are left out.
 */
export function* filesBelow(
  root: string,
  directory: string,
  mayContain: (directory: string) => boolean = () => true,
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
      if (mayContain(name)) yield* filesBelow(root, name, mayContain, followed)
      continue
    }
    const target = entry.isSymbolicLink() ? directoryAt(join(root, name)) : undefined
    if (target === undefined) yield name
    else if (mayContain(name) && !isCycle(target, [realpathSync(join(root, directory)), ...followed])) {
      yield* filesBelow(root, name, mayContain, [...followed, target])
    }
  }
}

const directoryAt = (path: string): string | undefined =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? realpathSync(path) : undefined

const isCycle = (target: string, above: ReadonlyArray<string>): boolean =>
  above.some((directory) => directory === target || directory.startsWith(`${target}${sep}`))

/**
 * Creates a directory and its missing parents, accessible for their owner only. Node's recursive `mkdir` is not used: it never
 * ends on a file system that always fails with ENOENT, such as /proc, and it reports ENOENT for a read-only disk.
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

/** Creates a directory, with an error that names the option. */
export const makeDirectory = (directory: string): Effect.Effect<void, RemoteError> =>
  attempt("Directory.make", directory, () => {
    try {
      const path = resolve(directory)
      makeDirectorySync(path)
      if (!statSync(path).isDirectory()) throw new Error("it is a file")
    } catch (cause) {
      throw new EngineError(
        "Denied",
        `the directory ${directory} cannot be created: ${cause instanceof Error ? cause.message : cause}`,
        "choose another, with --directory or CHAINSTORE_DATA"
      )
    }
  })
