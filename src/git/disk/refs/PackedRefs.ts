import * as fs from "node:fs"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { EngineError } from "../files/EngineError.js"

const refLine = /^[0-9a-f]{40} [^\0]+$/
const peeledLine = /^\^[0-9a-f]{40}$/

interface FileContent {
  readonly stamp: string
  readonly refs: ReadonlyMap<string, Oid>
  /** The lines as latin1, one character for each byte, so that names which are not UTF-8 are preserved. */
  readonly lines: ReadonlyArray<string>
}

const nameOf = (line: string): string => {
  const name = line.slice(41)
  return /[\x80-\xff]/.test(name) ? Buffer.from(name, "latin1").toString("utf8") : name
}

/** The file `packed-refs` of a repository. It is read again when it has changed. */
export class PackedRefs {
  private last: FileContent | undefined

  constructor(private readonly file: string) {}

  private damaged(problem: string): EngineError {
    return new EngineError(
      "Corrupt",
      `${this.file} ${problem}`,
      "Restore the file from a backup, or its refs from a clone; an empty file may be removed if no ref was ever packed"
    )
  }

  /** The lines of the file. Git ends each line with a newline, so a file without a final newline is truncated. */
  private linesOf(text: string): ReadonlyArray<string> {
    if (!text.endsWith("\n")) throw this.damaged(text === "" ? "is empty" : "ends in the middle of a line")
    return text.split("\n")
  }

  private parse(lines: ReadonlyArray<string>): ReadonlyMap<string, Oid> {
    const refs = new Map<string, Oid>()
    let mayPeel = false
    for (const [at, line] of lines.entries()) {
      const isLast = at === lines.length - 1
      if (isLast || (at === 0 && line.startsWith("#"))) continue
      if (refLine.test(line)) refs.set(nameOf(line), line.slice(0, 40) as Oid)
      else if (!mayPeel || !peeledLine.test(line)) throw this.damaged(`has an invalid line ${at + 1}`)
      mayPeel = !line.startsWith("^")
    }
    return refs
  }

  private read(): FileContent {
    const stat = fs.statSync(this.file, { bigint: true, throwIfNoEntry: false })
    const stamp = stat === undefined ? "none" : `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
    if (this.last?.stamp === stamp) return this.last
    const lines = stat === undefined ? [] : this.linesOf(fs.readFileSync(this.file, "latin1"))
    this.last = { stamp, refs: this.parse(lines), lines }
    return this.last
  }

  get(name: string): Oid | undefined {
    return this.read().refs.get(name)
  }

  names(): Iterable<string> {
    return this.read().refs.keys()
  }

  /** The text of the file without a ref and its peeled line. */
  without(name: string): string {
    const kept: Array<string> = []
    const bytes = Buffer.from(name, "utf8").toString("latin1")
    let skipping = false
    for (const line of this.read().lines) {
      if (line.startsWith("^") && skipping) continue
      skipping = refLine.test(line) && line.slice(41) === bytes
      if (!skipping) kept.push(line)
    }
    return kept.join("\n")
  }
}
