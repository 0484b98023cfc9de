import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { RemoteError } from "../../domain/errors/StoreError.js"
import { isOid, type Oid } from "../../domain/identifiers/Oid.js"
import { attempt, attemptPromise } from "../disk/files/EngineError.js"
import { unlink, writeAll } from "../disk/files/FileOperations.js"
import { Lease } from "../disk/lease/Lease.js"
import { RefLocks } from "../disk/refs/RefLocks.js"

const operation = "GitHost.fetch"

/** Milliseconds to wait for the lock of the file. */
const lockTimeout = 10_000

/**
 * The file `shallow` of a clone: the commits that the clone has without their parents (gitformat-shallow). Several processes
 * may share the clone, so the file is read for each use and changed under Git's own lock. The lock of a dead process is
 * removed.
 */
export interface ShallowFile {
  readonly commits: ReadonlySet<Oid>
  /** Applies the `shallow` and `unshallow` lines of a fetch, after the objects of the fetch have been stored. */
  readonly update: (
    shallow: ReadonlyArray<Oid>,
    unshallow: ReadonlyArray<Oid>
  ) => Effect.Effect<void, RemoteError>
}

export const make = (directory: string): Effect.Effect<ShallowFile, RemoteError, Scope.Scope> =>
  Effect.gen(function* () {
    const lease = yield* Effect.acquireRelease(
      attempt(operation, directory, () => {
        const opened = new Lease(directory)
        opened.open()
        return opened
      }),
      (made) => Effect.ignore(attempt(operation, directory, () => made.close()))
    )
    const locks = new RefLocks(directory, lease, lockTimeout)
    const file = path.join(directory, "shallow")

    const read = (): ReadonlySet<Oid> => {
      try {
        return new Set(fs.readFileSync(file, "latin1").split("\n").filter(isOid))
      } catch {
        return new Set()
      }
    }

    const write = async (shallow: ReadonlyArray<Oid>, unshallow: ReadonlyArray<Oid>, signal: AbortSignal) => {
      const prepared = locks.prepare("")
      try {
        const lock = await locks.take("shallow", prepared.file, signal)
        const commits = new Set(read())
        for (const oid of shallow) commits.add(oid)
        for (const oid of unshallow) commits.delete(oid)
        try {
          writeAll(prepared.fd, Buffer.from([...commits].map((oid) => `${oid}\n`).join(""), "latin1"))
          fs.renameSync(lock, file)
        } catch (cause) {
          unlink(lock)
          throw cause
        }
      } finally {
        fs.closeSync(prepared.fd)
        unlink(prepared.file)
      }
    }

    return {
      get commits() {
        return read()
      },
      update: (shallow, unshallow) =>
        shallow.length === 0 && unshallow.length === 0
          ? Effect.void
          : attemptPromise(operation, directory, (signal) => write(shallow, unshallow, signal))
    }
  })
