import * as fs from "node:fs"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { isFullRefName } from "../../Names.js"
import { filesBelow } from "../files/Directories.js"
import { EngineError } from "../files/EngineError.js"
import { hasErrorCode, readSmallFile } from "../files/FileOperations.js"
import type { Reference } from "../port/GitRepository.js"
import { PackedRefs } from "./PackedRefs.js"
import { unsafeAssertPresent } from "./RefLocks.js"

const oidPattern = /^[0-9a-f]{40}$/
const symbolic = /^ref:\s*(.*?)\s*$/

/** A ref that was read. `target` is the ref to which a symbolic ref points, or the ref itself. */
export interface FoundRef {
  readonly name: string
  readonly target: string
  readonly oid: Oid | undefined
}

/** Reads the loose and packed refs of a repository. */
export class RefReader {
  protected readonly packed: PackedRefs

  constructor(protected readonly directory: string) {
    this.packed = new PackedRefs(this.file("packed-refs"))
  }

  protected file(name: string): string {
    return `${this.directory}/${name}`
  }

  protected loose(name: string): string | undefined {
    const file = this.file(name)
    try {
      return readSmallFile(file)
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "EISDIR", "ENOTDIR")) return undefined
      if (hasErrorCode(cause, "ELOOP")) return this.linked(file)
      throw cause
    }
  }

  /** The content of a symbolic link. Git reads a link to a ref name as a symbolic ref, and any other link as its target file. */
  private linked(file: string): string | undefined {
    try {
      const to = fs.readlinkSync(file)
      return isFullRefName(to) ? `ref: ${to}\n` : readSmallFile(fs.realpathSync(file))
    } catch (cause) {
      if (hasErrorCode(cause, "ENOENT", "EISDIR", "ENOTDIR")) return undefined
      throw cause
    }
  }

  /** The target of a symbolic ref. Throws if the final newline is missing: the name may be truncated. */
  private targetOf(name: string, text: string): string | undefined {
    const target = symbolic.exec(text)?.[1]
    if (target === undefined || text.endsWith("\n")) return target
    throw new EngineError(
      "Corrupt",
      `The symbolic ref ${name} does not end with a newline: it may have been cut short`,
      `Repair it, such as with \`git symbolic-ref ${name} refs/heads/main\``
    )
  }

  /** Follows symbolic refs, and returns the last ref with the content of its file. */
  protected follow(name: string): { readonly name: string; readonly text: string | undefined } {
    let at = name
    for (let steps = 0; steps < 6; steps++) {
      const text = this.loose(at)
      const target = text === undefined ? undefined : this.targetOf(at, text)
      if (target === undefined) return { name: at, text }
      at = target
      if (!isFullRefName(at)) break
    }
    throw new EngineError(
      "Corrupt",
      `The symbolic ref ${name} does not lead to a ref`,
      "Repair it with `git symbolic-ref`"
    )
  }

  /** The object that a ref points to. Symbolic refs are followed. */
  read(name: string): Oid | undefined {
    return this.find(name).oid
  }

  find(name: string): FoundRef {
    const at = this.follow(name)
    return { name, target: at.name, oid: this.oidIn(name, at) }
  }

  private oidIn(name: string, at: { readonly name: string; readonly text: string | undefined }) {
    if (at.text === undefined) {
      const found = this.packed.get(at.name)
      if (found === undefined) unsafeAssertPresent(this.directory)
      return found
    }
    const oid = at.text.trim()
    if (oidPattern.test(oid)) return oid as Oid
    throw new EngineError(
      "Corrupt",
      `The ref ${name} does not contain an object id`,
      `Repair it with \`git update-ref ${name} COMMIT\``
    )
  }

  /** The branch that HEAD points to. */
  head(): string {
    const text = this.loose("HEAD")
    if (text === undefined) unsafeAssertPresent(this.directory)
    const target = text === undefined ? undefined : this.targetOf("HEAD", text)
    if (target?.startsWith("refs/heads/")) return target.slice("refs/heads/".length)
    if (target?.startsWith("refs/") || oidPattern.test(text?.trim() ?? "")) return "main"
    throw new EngineError(
      "Corrupt",
      `The HEAD of ${this.directory} names no branch and no commit`,
      "Repair it: write a line such as `ref: refs/heads/main` into the file"
    )
  }

  /** The refs whose full names begin with `prefix`, ordered by name. */
  list(prefix: string): Array<Reference> {
    const names = new Set<string>()
    const mayContain = (name: string) => name.startsWith(prefix) || prefix.startsWith(`${name}/`)
    for (const name of filesBelow(this.directory, "refs", mayContain)) {
      if (name.startsWith(prefix) && isFullRefName(name)) names.add(name)
    }
    for (const name of this.packed.names()) if (name.startsWith(prefix)) names.add(name)
    const found: Array<Reference> = []
    for (const name of [...names].sort((a, b) => (a < b ? -1 : 1))) {
      const oid = this.read(name)
      if (oid !== undefined) found.push({ name, oid })
    }
    if (found.length === 0) unsafeAssertPresent(this.directory)
    return found
  }

  /** Another packed ref that cannot exist beside `name`, as one name is a directory of the other. */
  protected conflicting(name: string): string | undefined {
    for (const other of this.packed.names()) {
      if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) {
        if (this.read(other) !== undefined) return other
      }
    }
    return undefined
  }
}
