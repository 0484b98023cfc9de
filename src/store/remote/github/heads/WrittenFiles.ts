import type { Oid } from "../../../../domain/identifiers/Oid.js"

/** How long a replica may lag behind a write of ours, in milliseconds. */
export const maxReplicaLag = 60_000

/** Files of one branch that are remembered. */
const mostFiles = 16_384

/** What our own writes made of a file. */
export interface WrittenFile {
  readonly after: Oid | ""
  readonly at: number
  /** The step at which the write ended. */
  readonly step: number
  /** Versions (`""`: absent) that it is known to have replaced, and when: a replica may show them for `lag` after that. */
  readonly superseded: ReadonlyMap<string, number>
  /** Versions that others have put in its place, as the head showed. */
  readonly newer: Set<string>
}

/** The files of a branch that were written while a replica may lag behind. */
export class WrittenFiles {
  readonly #files = new Map<string, WrittenFile>()
  /** When a file was last forgotten although a replica may lag behind it. */
  #forgotten = Number.NEGATIVE_INFINITY

  constructor(private readonly most = mostFiles) {}

  /** What was written of a file lately. */
  get(path: string, now: number): WrittenFile | undefined {
    const file = this.#files.get(path)
    return file !== undefined && now < file.at + maxReplicaLag ? file : undefined
  }

  /** Whether there were too many files to remember, so that any file may have been written lately. */
  hasForgotten(now: number): boolean {
    return now < this.#forgotten + maxReplicaLag
  }

  /** Notes a write that began after the step `begun`, on top of what was written of the file before. */
  note(path: string, file: WrittenFile, begun: number, now: number): void {
    const known = this.get(path, now)
    const isOvertaken = known !== undefined && known.step > begun
    const last = isOvertaken ? known : file
    const superseded = new Map<string, number>()
    for (const [version, since] of [...(known?.superseded ?? []), ...file.superseded]) {
      if (now < since + maxReplicaLag) superseded.set(version, since)
    }
    if (known !== undefined) superseded.set(known.after, now)
    superseded.set(file.after, now)
    superseded.delete(last.after)
    this.#files.delete(path)
    this.#files.set(path, { ...last, superseded })
    for (const [oldest, { at }] of this.#files) {
      const isRecent = now < at + maxReplicaLag
      if (this.#files.size <= this.most && isRecent) break
      this.#files.delete(oldest)
      if (isRecent) this.#forgotten = now
    }
  }

  /** What was written lately. */
  *lately(now: number): Generator<readonly [string, WrittenFile]> {
    for (const entry of this.#files) if (now < entry[1].at + maxReplicaLag) yield entry
  }
}
