import { Effect } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import * as GitObject from "../../src/git/GitObject.js"
import type { TreeEdit } from "../../src/store/internal/ordered-tree/TreeEdit.js"
import type { TreeReader } from "../../src/store/internal/ordered-tree/TreeReader.js"

interface Link {
  readonly kind: "blob" | "tree"
  readonly oid: Oid
}

type Directory = ReadonlyMap<string, Link>

const split = (path: string): readonly [string, string | undefined] => {
  const at = path.indexOf("/")
  return at < 0 ? [path, undefined] : [path.slice(0, at), path.slice(at + 1)]
}

/** The objects of a repository in memory, and one directory of it: enough for a tree of small files. */
export class TreeFiles {
  readonly blobs = new Map<string, Uint8Array>()
  readonly directories = new Map<string, Directory>()
  root: Directory = new Map()
  /** Objects that were new, with their bytes as Git hashes them. */
  written: Array<Uint8Array> = []
  /** Paths that were read. */
  read: Array<string> = []

  readonly reader: TreeReader<never> = {
    concurrency: 16,
    directory: (path) =>
      Effect.sync(() => {
        this.read.push(`${path}/`)
        if (this.#at(path) === undefined) return undefined
        const found = this.directory(path)
        const entries = [...found.entries].map(([name, { kind, oid }]) => ({
          name,
          kind,
          oid,
          size: this.sizes ? this.blobs.get(oid)?.length : undefined
        }))
        return { oid: found.oid, entries }
      }),
    files: (paths) =>
      Effect.sync(() =>
        paths.map((path) => {
          this.read.push(path)
          return this.file(path)
        })
      )
  }

  constructor(readonly sizes = false) {}

  #at(path: string): Directory | undefined {
    if (path === "") return this.root
    let directory: Directory | undefined = this.root
    for (const name of path.split("/")) directory = this.directories.get(directory?.get(name)?.oid ?? "")
    return directory
  }

  /** A directory that is there, with its id. */
  directory(path: string): { readonly oid: Oid; readonly entries: Directory } {
    const entries = this.#at(path)!
    return { oid: this.#keep(entries).oid, entries }
  }

  file(path: string): Uint8Array | undefined {
    const at = path.lastIndexOf("/")
    return this.blobs.get(this.#at(path.slice(0, Math.max(0, at)))?.get(path.slice(at + 1))?.oid ?? "")
  }

  write(content: Uint8Array): Oid {
    const oid = GitObject.hash("blob", content)
    if (!this.blobs.has(oid)) {
      this.blobs.set(oid, content)
      this.written.push(content)
    }
    return oid
  }

  #keep(directory: Directory): Link {
    const entries = [...directory]
      .map(([name, { kind, oid }]) => ({
        name,
        mode: kind === "blob" ? ("100644" as const) : ("040000" as const),
        oid
      }))
      .sort(GitObject.compareEntries)
    const content = GitObject.encodeTree(entries)
    const oid = GitObject.hash("tree", content)
    if (!this.directories.has(oid)) {
      this.directories.set(oid, directory)
      this.written.push(content)
    }
    return { kind: "tree", oid }
  }

  /** Makes edits as Git would: one that removes what is not there, or lies below another one, is a defect. */
  edit(edits: ReadonlyArray<TreeEdit>): void {
    this.root = this.#edited(
      this.root,
      edits.map((edit) => [edit.path, edit] as const)
    )
    this.#keep(this.root)
  }

  #edited(before: Directory, edits: ReadonlyArray<readonly [string, TreeEdit]>): Directory {
    const after = new Map(before)
    const below = new Map<string, Array<readonly [string, TreeEdit]>>()
    const changed = new Set<string>()
    for (const [path, edit] of edits) {
      const [name, rest] = split(path)
      if (rest !== undefined) {
        below.set(name, [...(below.get(name) ?? []), [rest, edit]])
        continue
      }
      if (changed.has(name)) throw new Error(`${edit.path} is changed twice`)
      changed.add(name)
      if (edit._tag === "Put") after.set(name, { kind: "blob", oid: this.write(edit.content) })
      else if (edit._tag === "Link") after.set(name, { kind: edit.kind, oid: edit.oid })
      else {
        if (before.get(name)?.kind !== edit.kind) throw new Error(`${edit.path} is not there`)
        after.delete(name)
      }
    }
    for (const [name, inside] of below) {
      if (changed.has(name)) throw new Error(`an edit lies below ${name}, which is changed`)
      const directory = this.#edited(this.directories.get(before.get(name)?.oid ?? "") ?? new Map(), inside)
      if (directory.size === 0) after.delete(name)
      else after.set(name, this.#keep(directory))
    }
    return after
  }

  /** Every file. */
  list(directory: Directory = this.root, prefix = ""): ReadonlyArray<readonly [string, Uint8Array]> {
    return [...directory]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, { kind, oid }]) =>
        kind === "blob"
          ? [[prefix + name, this.blobs.get(oid)!] as const]
          : this.list(this.directories.get(oid)!, `${prefix}${name}/`)
      )
  }

  /** How many entries the largest directory has. */
  widest(directory: Directory = this.root): number {
    return Math.max(
      directory.size,
      ...[...directory.values()].map(({ kind, oid }) =>
        kind === "blob" ? 0 : this.widest(this.directories.get(oid)!)
      )
    )
  }
}
