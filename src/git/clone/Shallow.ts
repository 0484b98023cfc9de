import * as fs from "node:fs"
import * as path from "node:path"
import { isOid, type Oid } from "../../domain/Oid.js"

/** The commits that a clone holds without their parents, in the file where Git looks for them: gitformat-shallow. */
export class Shallow {
  private readonly file: string
  private readonly commits: Set<Oid>

  constructor(directory: string) {
    this.file = path.join(directory, "shallow")
    const text = fs.existsSync(this.file) ? fs.readFileSync(this.file, "latin1") : ""
    this.commits = new Set(text.split("\n").filter(isOid))
  }

  get all(): ReadonlyArray<Oid> {
    return [...this.commits]
  }

  has(oid: Oid): boolean {
    return this.commits.has(oid)
  }

  /** Notes what a fetch has told, once its objects are there. */
  update(shallow: ReadonlyArray<Oid>, unshallow: ReadonlyArray<Oid>): void {
    if (shallow.length === 0 && unshallow.length === 0) return
    for (const oid of shallow) this.commits.add(oid)
    for (const oid of unshallow) this.commits.delete(oid)
    const temporary = `${this.file}.${process.pid}.tmp`
    fs.writeFileSync(temporary, [...this.commits].map((oid) => `${oid}\n`).join(""))
    fs.renameSync(temporary, this.file)
  }
}
