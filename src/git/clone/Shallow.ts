import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { isOid, type Oid } from "../../domain/Oid.js"
import { RemoteError } from "../../domain/StoreError.js"

/** Milliseconds between two tries of a lock, and tries. */
const pause = 20
const tries = 500

/**
 * The commits that a clone holds without their parents, in the file where Git looks for them (gitformat-shallow). Several
 * processes may share the clone: the file is read for each use, and changed under Git's own lock.
 */
export class Shallow {
  private readonly file: string

  constructor(directory: string) {
    this.file = path.join(directory, "shallow")
  }

  get all(): ReadonlySet<Oid> {
    try {
      return new Set(fs.readFileSync(this.file, "latin1").split("\n").filter(isOid))
    } catch {
      return new Set()
    }
  }

  /** Notes what a fetch has told, once its objects are there. */
  update(shallow: ReadonlyArray<Oid>, unshallow: ReadonlyArray<Oid>): Effect.Effect<void, RemoteError> {
    if (shallow.length === 0 && unshallow.length === 0) return Effect.void
    const lock = `${this.file}.lock`
    const attempt = (left: number): Effect.Effect<void, RemoteError> =>
      Effect.suspend(() => {
        let taken = false
        try {
          fs.closeSync(fs.openSync(lock, "wx"))
          taken = true
          const commits = new Set(this.all)
          for (const oid of shallow) commits.add(oid)
          for (const oid of unshallow) commits.delete(oid)
          fs.writeFileSync(lock, [...commits].map((oid) => `${oid}\n`).join(""))
          fs.renameSync(lock, this.file)
          return Effect.void
        } catch (cause) {
          if (taken) fs.rmSync(lock, { force: true })
          if (left > 0 && (cause as { readonly code?: unknown }).code === "EEXIST") {
            return Effect.zipRight(Effect.sleep(pause), attempt(left - 1))
          }
          return new RemoteError({
            operation: "GitHost.fetch",
            reason: "Locked",
            path: this.file,
            message: `the shallow commits of the clone cannot be noted: ${String(cause)}`,
            hint: `remove ${lock} where no other process uses it`,
            cause
          })
        }
      })
    return attempt(tries)
  }
}
