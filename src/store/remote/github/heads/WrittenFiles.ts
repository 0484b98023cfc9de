import type { Oid } from "../../../../domain/identifiers/Oid.js"

/** How long a replica may lag behind a write of this process, in milliseconds. */
export const maxReplicaLag = 60_000

/** Files with a record, for each branch. */
const defaultMaxFiles = 16_384

/** The version that a write of this process gave a file. */
export interface WrittenFile {
  readonly after: Oid | ""
  readonly at: number
  /** The logical time at which the write ended. */
  readonly time: number
  /** Versions (`""`: absent) that were replaced, and when. A replica may show them for `maxReplicaLag` after that. */
  readonly superseded: ReadonlyMap<string, number>
  /** Later versions by other writers, which were read from the head. */
  readonly newer: Set<string>
}

/** The files of a branch that this process wrote while a replica may still show older versions. */
export class WrittenFiles {
  readonly #files = new Map<string, WrittenFile>()
  /** When a record was last dropped although a replica may still lag. */
  #forgotten = Number.NEGATIVE_INFINITY

  constructor(private readonly maxFiles = defaultMaxFiles) {}

  get(path: string, now: number): WrittenFile | undefined {
    const file = this.#files.get(path)
    return file !== undefined && now < file.at + maxReplicaLag ? file : undefined
  }

  /** Whether records were dropped for lack of space, so that any file may have been written lately. */
  hasForgotten(now: number): boolean {
    return now < this.#forgotten + maxReplicaLag
  }

  /** Records a write that began at the logical time `begun`. It may have been confirmed after a later write. */
  note(path: string, file: WrittenFile, begun: number, now: number): void {
    const written = this.get(path, now)
    const isOvertaken = written !== undefined && written.time > begun
    const last = isOvertaken ? written : file
    const superseded = new Map<string, number>()
    for (const [version, since] of [...(written?.superseded ?? []), ...file.superseded]) {
      if (now < since + maxReplicaLag) superseded.set(version, since)
    }
    if (written !== undefined) superseded.set(written.after, now)
    superseded.set(file.after, now)
    superseded.delete(last.after)
    this.#files.delete(path)
    this.#files.set(path, { ...last, superseded })
    for (const [oldest, { at }] of this.#files) {
      const isRecent = now < at + maxReplicaLag
      if (this.#files.size <= this.maxFiles && isRecent) break
      this.#files.delete(oldest)
      if (isRecent) this.#forgotten = now
    }
  }

  /** The records that are not older than `maxReplicaLag`. */
  *lately(now: number): Generator<readonly [string, WrittenFile]> {
    for (const entry of this.#files) if (now < entry[1].at + maxReplicaLag) yield entry
  }
}
