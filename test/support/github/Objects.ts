import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deflateSync } from "node:zlib"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { Lease } from "../../../src/git/disk/lease/Lease.js"
import { ObjectDatabase } from "../../../src/git/disk/objects/ObjectDatabase.js"
import { rewriteTree } from "../../../src/git/disk/packs/TreeRewriter.js"
import * as GitObject from "../../../src/git/GitObject.js"
import type { PathEdit } from "../../../src/git/TreeEdit.js"
import { entryAt } from "../../../src/git/TreeReading.js"
import type { Change } from "../../../src/store/remote/GitRemote.js"

let files = 0

/** Writes a file so that nobody sees a part of it. */
const place = (file: string, bytes: Uint8Array | string) => {
  mkdirSync(dirname(file), { recursive: true })
  const partial = `${file}.${++files}.lock`
  writeFileSync(partial, bytes)
  renameSync(partial, file)
}

/** A bare repository, read and written at once: a child process for each would take most of a test's time. */
export class Objects {
  #database: ObjectDatabase | undefined

  constructor(private readonly directory: string) {}

  get database() {
    this.#database ??= new ObjectDatabase(this.directory, new Lease(this.directory), {})
    return this.#database
  }

  #write(type: GitObject.ObjectType, content: Uint8Array): Oid {
    const oid = GitObject.hash(type, content)
    const file = join(this.directory, "objects", oid.slice(0, 2), oid.slice(2))
    const header = Buffer.from(`${type} ${content.length}\0`)
    if (!existsSync(file)) place(file, deflateSync(Buffer.concat([header, content]), { level: 1 }))
    return oid
  }

  setRef(name: string, oid: string) {
    place(join(this.directory, name), `${oid}\n`)
  }

  /** A file at a commit; undefined where there is none. */
  file(commit: Oid, path: string): Buffer | undefined {
    const root = this.database.commit(commit)?.tree
    const find = (tree: Oid, name: string) => this.database.tree(tree).entryNamed(name)
    const entry = root === undefined ? undefined : entryAt(find, root, path)
    return entry !== undefined && GitObject.entryKindOf(entry.mode) === "blob"
      ? Buffer.from(this.database.read(entry.oid).content)
      : undefined
  }

  /** A commit's history, newest first; undefined where a merge leaves the order open. */
  line(from: Oid): ReadonlyArray<string> | undefined {
    const messages: Array<string> = []
    for (let at: Oid | undefined = from; at !== undefined; ) {
      const commit = this.database.commit(at)
      if (commit === undefined || commit.parents.length > 1) return undefined
      messages.push(commit.message)
      at = commit.parents[0]
    }
    return messages
  }

  commit(parent: Oid | undefined, changes: ReadonlyArray<Change>, message: string, seconds: number): Oid {
    const { database } = this
    const edits = changes.map(
      (change): PathEdit => ({
        path: change.path,
        mode: "100644",
        oid:
          change._tag === "Put"
            ? this.#write("blob", change.content)
            : change._tag === "Link"
              ? change.oid
              : undefined
      })
    )
    const { root, trees } = Steps.runSync(
      rewriteTree(
        { tree: (oid) => database.tree(oid), memo: { get: () => undefined, set: () => undefined } },
        parent === undefined ? undefined : database.commit(parent)?.tree,
        edits,
        { operation: "commit", removesDirectories: true }
      )
    )
    for (const { tree } of trees) this.#write("tree", tree.bytes)
    const person = { name: "Octo Cat", email: "octocat@example.org", seconds, offset: 0 }
    const parents = parent === undefined ? [] : [parent]
    return this.#write(
      "commit",
      GitObject.encodeCommit({ tree: root, parents, author: person, committer: person, message })
    )
  }
}
