import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Readable, Writable } from "node:stream"
import { Effect, Exit, Option, Scope } from "effect"
import * as Engine from "../../src/git/disk/Engine.js"
import type { GitRepository } from "../../src/git/disk/port/GitRepository.js"

/** Where a collection's documents lie. */
export type Layout = "flat" | "sharded"

const root = fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-bench-"))
process.on("exit", () => fs.rmSync(root, { recursive: true, force: true }))

let places = 0
export const freshPlace = () => path.join(root, `${places++}.git`)

const hash = (text: string) => crypto.createHash("sha1").update(text).digest("hex")

/** An id as random as the random part of a ULID, the same for the same number. */
export const idOf = (n: number) => hash(`id ${n}`).slice(0, 26).toUpperCase()

export const pathOf = (layout: Layout, id: string) =>
  layout === "flat" ? `data/users/${id}.json` : `data/users/${hash(id).slice(0, 2)}/${id}.json`

/** About 300 bytes of JSON. */
export const documentOf = (id: string, version: number) =>
  Buffer.from(
    `${JSON.stringify(
      {
        _created_at: "2026-01-01T00:00:00.000Z",
        _id: id,
        _rev: version,
        _updated_at: "2026-01-01T00:00:00.000Z",
        email: `${id.toLowerCase()}@example.org`,
        name: `Somebody called ${id}`,
        tags: ["one", "two", hash(id).slice(0, 8)],
        visits: version
      },
      null,
      2
    )}\n`
  )

export const open = async (options: Engine.EngineOptions) => {
  const scope = Effect.runSync(Scope.make())
  const repository = await Effect.runPromise(
    Scope.extend(Engine.open({ create: true, maintenance: false, ...options }), scope)
  )
  return { repository, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

export const changesOf = (layout: Layout, from: number, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const id = idOf(from + i)
    return { _tag: "Put" as const, path: pathOf(layout, id), content: documentOf(id, 1) }
  })

export const commit = (repository: GitRepository, message: string, changes: ReturnType<typeof changesOf>) =>
  repository.commitNext("main", () =>
    Effect.succeed({ commit: Option.some({ message, changes }), result: undefined })
  )

export const git = (directory: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", directory, ...args], { maxBuffer: 1 << 28 })

/** A bare repository with so many documents, made by Git itself once and copied for each use. */
export const seeded = (layout: Layout, count: number, collect = false) => {
  const template = path.join(root, `template-${layout}-${count}${collect ? "-gc" : ""}.git`)
  if (!fs.existsSync(template)) {
    execFileSync("git", ["init", "-q", "--bare", "--initial-branch=main", template])
    const parts = [fastCommit("seed", changesOf(layout, 0, count), false), Buffer.from("done\n")]
    execFileSync(
      "git",
      ["-C", template, "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done"],
      {
        input: Buffer.concat(parts)
      }
    )
    if (collect) git(template, "gc", "-q", "--aggressive")
  }
  const place = freshPlace()
  fs.cpSync(template, place, { recursive: true })
  return place
}

export const fastCommit = (message: string, changes: ReturnType<typeof changesOf>, goesOn: boolean) =>
  Buffer.concat([
    Buffer.from(
      `commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata ${message.length}\n${message}\n${goesOn ? "from refs/heads/main^0\n" : ""}`
    ),
    ...changes.flatMap((change) => [
      Buffer.from(`M 100644 inline ${change.path}\ndata ${change.content.length}\n`),
      change.content,
      Buffer.from("\n")
    ])
  ])

/** Runs `git fast-import` over a stream that `feed` writes; nothing is visible before its end. */
export const fastImport = (directory: string, feed: (write: (bytes: Buffer) => void) => void) =>
  new Promise<void>((resolve, reject) => {
    const child = spawn(
      "git",
      ["-C", directory, "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done"],
      {
        stdio: ["pipe", "ignore", "inherit"]
      }
    )
    child.on("error", reject)
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`fast-import ended with ${code}`))
    )
    feed((bytes) => child.stdin.write(bytes))
    child.stdin.end("done\n")
  })

/** A `git cat-file --batch` that is asked for one object at a time. */
export class CatFileDaemon {
  private readonly child: ChildProcessByStdio<Writable, Readable, null>
  private wanted = 0
  private received = 0
  private answer: (() => void) | undefined

  constructor(directory: string) {
    this.child = spawn("git", ["-C", directory, "cat-file", "--batch"], {
      stdio: ["pipe", "pipe", "inherit"]
    })
    this.child.stdout.on("data", (bytes: Buffer) => {
      if (this.wanted === 0) {
        const end = bytes.indexOf(10)
        this.wanted = end + 2 + Number(bytes.toString("latin1", 0, end).split(" ")[2])
      }
      this.received += bytes.length
      if (this.received >= this.wanted) this.answer?.()
    })
  }

  get(oid: string): Promise<void> {
    this.wanted = 0
    this.received = 0
    return new Promise((resolve) => {
      this.answer = resolve
      this.child.stdin.write(`${oid}\n`)
    })
  }

  close() {
    this.child.stdin.end()
  }
}

/** Bytes of all files below a directory. */
export const bytesOf = (directory: string): number =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .reduce(
      (sum, entry) =>
        entry.isFile() ? sum + fs.statSync(path.join(entry.parentPath, entry.name)).size : sum,
      0
    )
