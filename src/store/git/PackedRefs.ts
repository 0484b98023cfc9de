import * as fs from "node:fs"
import type { Oid } from "../../domain/Oid.js"

const oidPattern = /^[0-9a-f]{40}$/

interface Read {
  readonly stamp: string
  readonly refs: ReadonlyMap<string, Oid>
  /** A character for each byte: what others wrote is kept as it is, also where it is no UTF-8. */
  readonly lines: ReadonlyArray<string>
}

const nameOf = (line: string): string => {
  const name = line.slice(41)
  return /[\x80-\xff]/.test(name) ? Buffer.from(name, "latin1").toString("utf8") : name
}

/** The file `packed-refs` of a repository, read again whenever it has changed. */
export class PackedRefs {
  private last: Read | undefined

  constructor(private readonly file: string) {}

  private read(): Read {
    const stat = fs.statSync(this.file, { bigint: true, throwIfNoEntry: false })
    const stamp = stat === undefined ? "none" : `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
    if (this.last?.stamp === stamp) return this.last
    const lines = stat === undefined ? [] : fs.readFileSync(this.file, "latin1").split("\n")
    const refs = new Map<string, Oid>()
    for (const line of lines) {
      if (oidPattern.test(line.slice(0, 40))) refs.set(nameOf(line), line.slice(0, 40) as Oid)
    }
    this.last = { stamp, refs, lines }
    return this.last
  }

  get(name: string): Oid | undefined {
    return this.read().refs.get(name)
  }

  names(): Iterable<string> {
    return this.read().refs.keys()
  }

  /** What the file would say without a ref and the commit that its tag stands for. */
  without(name: string): string {
    const kept: Array<string> = []
    const bytes = Buffer.from(name, "utf8").toString("latin1")
    let skipping = false
    for (const line of this.read().lines) {
      if (line.startsWith("^") && skipping) continue
      skipping = line.slice(41) === bytes && oidPattern.test(line.slice(0, 40))
      if (!skipping) kept.push(line)
    }
    return kept.join("\n")
  }
}
