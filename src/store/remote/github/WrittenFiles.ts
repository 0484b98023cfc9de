import type { Oid } from "../../../domain/Oid.js"

/** How long a replica may lag behind a write of ours, in milliseconds. */
export const lag = 60_000

/** Files that are remembered, beside those written lately. */
const mostFiles = 1024

/** What our own writes made of a file. */
export interface WrittenFile {
  readonly after: Oid | ""
  readonly at: number
  /** Versions (`""`: absent) that count as stale. */
  readonly superseded: ReadonlySet<string>
  /** Whether every other version does. */
  readonly all: boolean
}

export type WrittenFiles = Map<string, WrittenFile>

/** Notes a write of a file, on top of what was written of it before. */
export const noteFile = (files: WrittenFiles, path: string, file: WrittenFile, now: number): void => {
  const known = files.get(path)
  const superseded = new Set(file.superseded)
  if (known !== undefined) {
    if (known.at + lag >= now) for (const oid of known.superseded) superseded.add(oid)
    superseded.add(known.after)
  }
  superseded.delete(file.after)
  files.delete(path)
  files.set(path, { ...file, superseded })
  for (const [oldest, { at }] of files) {
    if (files.size <= mostFiles && at + lag >= now) break
    files.delete(oldest)
  }
}
