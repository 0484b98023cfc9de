import * as Option from "effect/Option"
import { makeSharedResults } from "../../../../domain/concurrency/SharedCalls.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { Directory, RemoteFailure, SnapshotFile } from "../../GitRemote.js"

interface RecentRead<A> {
  readonly found: Option.Option<A>
  /** Milliseconds since the epoch. */
  readonly since: number
}

const directoryOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf("/"), 0))
const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1)

/** Recent reads of one branch, which can be returned again for a while. */
export class RecentReads {
  readonly #files = new Map<string, RecentRead<SnapshotFile>>()
  readonly #directories = new Map<string, RecentRead<Directory>>()
  #writes = 0
  /** The reads that run. A key belongs to one type of result. */
  readonly share = makeSharedResults<Option.Option<any>, RemoteFailure>()

  /** The number of writes of this process. A read that began before the last one may be outdated. */
  get writes(): number {
    return this.#writes
  }

  /** A recently read file. A recently read directory overrides an older read of its file. */
  file(path: string, now: number, maxAge: number): Option.Option<SnapshotFile> | undefined {
    const seen = this.#files.get(path)
    const found = seen !== undefined && now - seen.since < maxAge ? seen : undefined
    const above = this.directory(directoryOf(path), now, maxAge)
    if (above === undefined) return found?.found
    const names = Option.isNone(above) ? [] : above.value.tree.entries
    const named = names.find((entry) => entry.path === nameOf(path))
    if (named === undefined) return Option.none()
    const isOlder = found !== undefined && found.since <= this.#directories.get(directoryOf(path))!.since
    return isOlder && !Option.exists(found.found, ({ oid }) => oid === named.oid) ? undefined : found?.found
  }

  directory(path: string, now: number, maxAge: number): Option.Option<Directory> | undefined {
    const seen = this.#directories.get(path)
    return seen !== undefined && now - seen.since < maxAge ? seen.found : undefined
  }

  putFile(path: string, found: Option.Option<SnapshotFile>, since: number): void {
    this.#files.set(path, { found, since })
  }

  putDirectory(path: string, found: Option.Option<Directory>, since: number): void {
    this.#directories.set(path, { found, since })
  }

  /** A write changed a file: the read of it is removed, and the read of its directory if that did not list the file. */
  fileWritten(path: string): void {
    this.#writes++
    const directory = directoryOf(path)
    const seen = this.#directories.get(directory)
    const isNamed =
      seen !== undefined &&
      Option.exists(seen.found, ({ tree }) => tree.entries.some((entry) => entry.path === nameOf(path)))
    if (this.#files.delete(path) || !isNamed) this.#directories.delete(directory)
  }

  /** A commit of this process is the new head: only reads that agree with it are kept. */
  advance(
    fileAt: (path: string) => Option.Option<Oid> | undefined,
    directoryAt: (path: string) => Option.Option<Directory> | undefined
  ): void {
    this.#writes++
    for (const [path, { found }] of this.#files) {
      const now = fileAt(path)
      const before = Option.getOrUndefined(found)?.oid
      if (now === undefined || Option.getOrUndefined(now) !== before) this.#files.delete(path)
    }
    for (const [path, { since }] of this.#directories) {
      const now = directoryAt(path)
      if (now === undefined) this.#directories.delete(path)
      else this.putDirectory(path, now, since)
    }
  }

  /** A copy for another branch at the same commit. */
  copy(): RecentReads {
    const reads = new RecentReads()
    for (const [path, { found, since }] of this.#files) reads.putFile(path, found, since)
    for (const [path, { found, since }] of this.#directories) reads.putDirectory(path, found, since)
    return reads
  }
}
