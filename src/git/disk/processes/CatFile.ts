import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import { hash, type RawObject } from "../../GitObject.js"
import type { ObjectType } from "../port/GitRepository.js"
import { type GitChild, spawnGit } from "./GitProcess.js"

const idleMillis = 30_000

interface Request {
  readonly oid: Oid
  readonly resolve: (object: RawObject | undefined) => void
  readonly reject: (cause: Error) => void
}

const types: Readonly<Record<string, ObjectType>> = {
  blob: "blob",
  tree: "tree",
  commit: "commit",
  tag: "tag"
}

/**
 * A long-lived `git cat-file --batch`: the second opinion for objects that the native reader does not find, such as
 * those of alternates. Started when first needed, stopped when idle.
 */
export class CatFile {
  private child: GitChild | undefined
  private waiting: Array<Request> = []
  private pending: Buffer = Buffer.alloc(0)
  private idle: NodeJS.Timeout | undefined

  constructor(private readonly directory: string) {}

  find(oid: Oid): Promise<RawObject | undefined> {
    if (oid === emptyTree) return Promise.resolve({ type: "tree", content: new Uint8Array(0) })
    return new Promise((resolve, reject) => {
      const child = this.child ?? this.start()
      this.waiting.push({ oid, resolve, reject })
      child.stdin.write(`${oid}\n`)
      this.rest()
    })
  }

  private rest(): void {
    clearTimeout(this.idle)
    this.idle = setTimeout(() => (this.waiting.length === 0 ? this.close() : this.rest()), idleMillis)
    this.idle.unref()
  }

  private start(): GitChild {
    const child = spawnGit(this.directory, ["cat-file", "--batch"])
    this.child = child
    this.pending = Buffer.alloc(0)
    const fail = (cause: Error) => {
      if (this.child === child) this.child = undefined
      for (const request of this.waiting.splice(0)) request.reject(cause)
    }
    child.stderr.resume()
    child.stdout.on("data", (bytes: Buffer) => this.receive(bytes))
    child.on("error", fail)
    child.on("close", () => {
      if (this.child === child) fail(new Error("git cat-file ended"))
    })
    return child
  }

  private receive(bytes: Buffer): void {
    this.pending = this.pending.length === 0 ? bytes : Buffer.concat([this.pending, bytes])
    for (;;) {
      const end = this.pending.indexOf(10)
      if (end < 0) return
      const [, typeText = "", sizeText] = this.pending.toString("latin1", 0, end).split(" ")
      const type = types[typeText]
      if (type === undefined) {
        this.pending = this.pending.subarray(end + 1)
        this.waiting.shift()?.resolve(undefined)
        continue
      }
      const size = Number(sizeText)
      if (this.pending.length < end + size + 2) return
      const content = new Uint8Array(this.pending.subarray(end + 1, end + 1 + size))
      this.pending = this.pending.subarray(end + size + 2)
      const request = this.waiting.shift()
      // Git believes the index of a pack, and a damaged one may name another object.
      request?.resolve(hash(type, content) === request.oid ? { type, content } : undefined)
    }
  }

  close(): void {
    clearTimeout(this.idle)
    const child = this.child
    this.child = undefined
    child?.stdin.end()
    child?.kill()
    for (const request of this.waiting.splice(0)) request.reject(new Error("git cat-file was stopped"))
  }
}
