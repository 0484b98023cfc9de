import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import { hash, type RawObject } from "../../GitObject.js"
import { maxWholeBytes, TooLargeObject } from "../files/EngineError.js"
import type { ObjectType } from "../port/GitRepository.js"
import { type GitChild, gitFailure, spawnGit } from "./GitProcess.js"

const idleMillis = 30_000
/** The last characters of Git's messages that are kept for an error. */
const maxErrorText = 4_096

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
 * A long-lived `git cat-file --batch` process, which reads the objects that the native reader does not find. Started when first
 * needed, stopped when idle.
 */
export class CatFile {
  private child: GitChild | undefined
  private requests: Array<Request> = []
  private pending: Buffer = Buffer.alloc(0)
  /** The bytes that arrived after `pending`, and how many must arrive before the next object is complete. */
  private arrived: Array<Buffer> = []
  private missing = 0
  /** The number of bytes of a refused object that have not arrived. */
  private refused = 0
  private idleTimer: NodeJS.Timeout | undefined

  constructor(private readonly directory: string) {}

  find(oid: Oid): Promise<RawObject | undefined> {
    if (oid === emptyTree) return Promise.resolve({ type: "tree", content: new Uint8Array(0) })
    return new Promise((resolve, reject) => {
      const child = this.child ?? this.start()
      this.requests.push({ oid, resolve, reject })
      child.stdin.write(`${oid}\n`)
      this.restartIdleTimer()
    })
  }

  private restartIdleTimer(): void {
    clearTimeout(this.idleTimer)
    this.idleTimer = setTimeout(
      () => (this.requests.length === 0 ? this.close() : this.restartIdleTimer()),
      idleMillis
    )
    this.idleTimer.unref()
  }

  private start(): GitChild {
    const child = spawnGit(this.directory, ["cat-file", "--batch"])
    this.child = child
    this.pending = Buffer.alloc(0)
    this.arrived = []
    this.missing = 0
    this.refused = 0
    const fail = (cause: Error) => {
      if (this.child === child) this.child = undefined
      for (const request of this.requests.splice(0)) request.reject(cause)
    }
    let stderr = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-maxErrorText)
    })
    child.stdout.on("data", (bytes: Buffer) => this.receive(bytes))
    child.on("error", fail)
    child.on("close", (code) => {
      if (this.child === child)
        fail(gitFailure(this.directory, "GitRepository.object", code ?? 128, stderr || "git cat-file ended"))
    })
    return child
  }

  private receive(bytes: Buffer): void {
    this.arrived.push(bytes)
    this.missing -= bytes.length
    if (this.missing > 0) return
    this.pending = Buffer.concat([this.pending, ...this.arrived])
    this.arrived = []
    for (;;) {
      const dropped = Math.min(this.refused, this.pending.length)
      this.refused -= dropped
      this.pending = this.pending.subarray(dropped)
      const end = this.pending.indexOf(10)
      if (end < 0) return
      const [, typeText = "", sizeText] = this.pending.toString("latin1", 0, end).split(" ")
      const type = types[typeText]
      if (type === undefined) {
        this.pending = this.pending.subarray(end + 1)
        this.requests.shift()?.resolve(undefined)
        continue
      }
      const size = Number(sizeText)
      if (size > maxWholeBytes) {
        this.refused = size + 1
        this.pending = this.pending.subarray(end + 1)
        const request = this.requests.shift()
        request?.reject(new TooLargeObject(size, request.oid))
        continue
      }
      this.missing = end + size + 2 - this.pending.length
      if (this.missing > 0) return
      const content = new Uint8Array(this.pending.subarray(end + 1, end + 1 + size))
      this.pending = this.pending.subarray(end + size + 2)
      const request = this.requests.shift()
      // Git trusts the index of a pack. A damaged index may name another object.
      request?.resolve(hash(type, content) === request.oid ? { type, content } : undefined)
    }
  }

  close(): void {
    clearTimeout(this.idleTimer)
    const child = this.child
    this.child = undefined
    child?.stdin.end()
    child?.kill()
    for (const request of this.requests.splice(0)) request.reject(new Error("git cat-file was stopped"))
  }
}
