import { closeSync, constants, existsSync, openSync } from "node:fs"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Steps from "../../../domain/concurrency/Steps.js"
import { RemoteError, type RemoteErrorReason } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { hasErrorCode } from "./FileOperations.js"

/** Thrown by the synchronous code of the engine for a known problem. */
export class EngineError extends Error {
  constructor(
    readonly reason: RemoteErrorReason,
    message: string,
    readonly hint?: string,
    options?: ErrorOptions
  ) {
    super(message, options)
  }
}

/** The objects that the build of a commit needs, but the repository lacks. It is no refusal, so it does not depend on the base. */
export class MissingInBuild extends Data.TaggedError("MissingInBuild")<{
  readonly oids: ReadonlyArray<Oid>
}> {}

/** An object that the native reader did not find. Stock Git may still find it. */
export class MissingObject extends EngineError {
  constructor(
    readonly oid: string,
    /** Why the object may exist nevertheless. */
    damage?: EngineError
  ) {
    super(
      damage?.reason ?? "Corrupt",
      `Object ${oid} is missing${damage === undefined ? "" : `: ${damage.message}`}`,
      damage === undefined
        ? "Run `git fsck` in the repository and fetch the object from a clone"
        : damage.reason === "Denied"
          ? damage.hint
          : "Run the maintenance (`GitRepository.maintain`), or restore the file from a backup"
    )
  }
}

/** The largest object in bytes that is read as a whole. A larger one is only read as a stream. */
export const maxWholeBytes = 512 * 1024 * 1024

/** An object that is too large to be read as a whole. A few kilobytes of a pack may inflate to gigabytes. */
export class TooLargeObject extends EngineError {
  constructor(
    readonly size: number,
    oid?: string
  ) {
    super(
      "Unsupported",
      `${oid === undefined ? "An object" : `Object ${oid}`} has ${size} bytes: at most ${maxWholeBytes} bytes are read as a whole`,
      `Find its file with \`git log --all --find-object=${oid ?? "ID"}\`, and remove it from the branch`
    )
  }

  /** Throws if an object of `size` bytes is too large. */
  static check(size: number): void {
    if (size > maxWholeBytes) throw new TooLargeObject(size)
  }
}

const codeOf = (cause: unknown): string | undefined =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : undefined

const textOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/** Whether an error means that bytes on the disk are damaged. */
export const isCorruption = (cause: unknown): boolean => {
  const code = codeOf(cause) ?? ""
  return (
    (cause instanceof EngineError && cause.reason === "Corrupt") ||
    code.startsWith("Z_") ||
    code.startsWith("ERR_BUFFER") ||
    code === "ERR_OUT_OF_RANGE"
  )
}

const lacksRights = (cause: unknown): boolean => ["EACCES", "EPERM"].includes(codeOf(cause) ?? "")

const rightsHint = "Give its user the rights to the whole repository"

/**
 * Whether a read failed because of damage, because the disk could not read, or because this process may not. Another copy may
 * be readable.
 */
export const isUnreadable = (cause: unknown): boolean =>
  isCorruption(cause) || codeOf(cause) === "EIO" || lacksRights(cause)

/** The reason why a part of a repository cannot be read; undefined for any other error. */
export const damageOf = (cause: unknown): EngineError | undefined => {
  if (cause instanceof EngineError) return cause
  if (lacksRights(cause)) return new EngineError("Denied", textOf(cause), rightsHint)
  return isUnreadable(cause) ? new EngineError("Corrupt", textOf(cause), "Run the maintenance") : undefined
}

/**
 * The reason why a file or directory cannot be opened; undefined if it can, or if it is missing. `access(2)` would tell the rights of
 * the real user, while files are opened with those of the effective one.
 */
export const damageAt = (file: string): EngineError | undefined => {
  try {
    // A pipe would wait for a writer, and a file for the end of a lease.
    closeSync(openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)))
    return undefined
  } catch (cause) {
    const damage = damageOf(cause)
    if (damage === undefined && !hasErrorCode(cause, "ENOENT", "ENOTDIR", "EAGAIN")) throw cause
    return damage
  }
}

/** As `damageAt`, for the entries of a directory: its rights to list and to enter it may differ. */
export const damageIn = (directory: string): EngineError | undefined => damageAt(`${directory}/.`)

/** Translates an error of the file system, zlib or the engine into a `RemoteError`. */
export const toRemoteError = (operation: string, directory: string, cause: unknown): RemoteError => {
  if (cause instanceof RemoteError) return cause
  const make = (reason: RemoteErrorReason, message: string, hint?: string) =>
    new RemoteError({ operation, reason, message, path: directory, hint, cause })
  if (cause instanceof EngineError) return make(cause.reason, cause.message, cause.hint)
  const code = codeOf(cause) ?? ""
  switch (code) {
    case "EROFS":
      return make("Denied", `The disk of ${directory} is read-only: ${textOf(cause)}`, "Mount it for writing")
    case "EACCES":
    case "EPERM":
      return make("Denied", `This process lacks the rights in ${directory}: ${textOf(cause)}`, rightsHint)
    case "ENOSPC":
    case "EDQUOT":
      return make(
        "Denied",
        `The disk of ${directory} is full: ${textOf(cause)}`,
        "Free some space and try again"
      )
  }
  if (!existsSync(directory)) {
    return make(
      "Unreachable",
      `The repository ${directory} is gone`,
      "Restore the directory or open another one"
    )
  }
  switch (code) {
    case "ENOTDIR":
    case "ENOENT":
      return make(
        "Corrupt",
        `A part of the repository ${directory} is missing: ${textOf(cause)}`,
        "Run `git fsck`"
      )
    default:
      return isCorruption(cause)
        ? make("Corrupt", `An object in ${directory} cannot be read: ${textOf(cause)}`, "Run `git fsck`")
        : make("Server", `${directory}: ${textOf(cause)}`)
  }
}

/** Runs synchronous engine code as an effect. */
export const attempt = <A>(
  operation: string,
  directory: string,
  run: () => A
): Effect.Effect<A, RemoteError> =>
  Effect.try({ try: run, catch: (cause) => toRemoteError(operation, directory, cause) })

/** Runs engine code that may pause as an effect. */
export const attemptSteps = <A>(
  operation: string,
  directory: string,
  start: () => Steps.Steps<A>
): Effect.Effect<A, RemoteError> =>
  Effect.catchAllDefect(Steps.run(start), (cause) => Effect.fail(toRemoteError(operation, directory, cause)))

/**
 * Runs asynchronous engine code as an effect. An interruption aborts the signal and waits for the code, so that no operation is
 * left incomplete.
 */
export const attemptPromise = <A>(
  operation: string,
  directory: string,
  run: (signal: AbortSignal) => Promise<A>
): Effect.Effect<A, RemoteError> =>
  Effect.async<A, RemoteError>((resume, signal) => {
    const settled = run(signal).then(
      (value) => resume(Effect.succeed(value)),
      (cause) => resume(Effect.fail(toRemoteError(operation, directory, cause)))
    )
    return Effect.promise(() => settled)
  })

/** Waits in real time, because a lock is held by another process, which does not use a test clock. */
export const waitMillis = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))
