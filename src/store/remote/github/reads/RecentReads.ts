import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { Directory, SnapshotFile } from "../../GitRemote.js"

interface RecentRead<A> {
  readonly found: Option.Option<A>
  /** Milliseconds since the epoch. */
  readonly since: number
}

const directoryOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf("/"), 0))
const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1)

/** What was found at paths of a branch that may be answered again for a while. */
export class RecentReads {
  readonly #files = new Map<string, RecentRead<SnapshotFile>>()
  readonly #directories = new Map<string, RecentRead<Directory>>()
  #writes = 0

  /** How many writes of ours it knows of: a look that began before one of them may have found what is old. */
  get writes(): number {
    return this.#writes
  }

  /** A file that its directory does not name is absent; where the directory was seen later, it is the version named. */
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

  /** A write changed a file: what was seen of it is old, and of its directory if it did not name the file. */
  fileWritten(path: string): void {
    this.#writes++
    const directory = directoryOf(path)
    const seen = this.#directories.get(directory)
    const isNamed =
      seen !== undefined &&
      Option.exists(seen.found, ({ tree }) => tree.entries.some((entry) => entry.path === nameOf(path)))
    if (this.#files.delete(path) || !isNamed) this.#directories.delete(directory)
  }

  /** A commit of ours stands on others: what it has is kept, as far as that is known. */
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

  /** The same for a branch that comes to where this one is. */
  copy(): RecentReads {
    const made = new RecentReads()
    for (const [path, { found, since }] of this.#files) made.putFile(path, found, since)
    for (const [path, { found, since }] of this.#directories) made.putDirectory(path, found, since)
    return made
  }
}
