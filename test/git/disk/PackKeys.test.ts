import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, it } from "@effect/vitest"
import { LruCache } from "../../../src/domain/runtime/LruCache.js"
import { PackDescriptors } from "../../../src/git/disk/packs/PackDescriptors.js"
import { PackFile } from "../../../src/git/disk/packs/PackFile.js"
import { PackIndex } from "../../../src/git/disk/packs/PackIndex.js"
import * as GitObject from "../../../src/git/GitObject.js"

// Every flush opens a pack: this many are a day's work of a busy service.
it("a process that has opened four million packs still reads what it asked for", () => {
  const at = fs.mkdtempSync(path.join(os.tmpdir(), "review-"))
  try {
    const git = (args: Array<string>, input?: string) =>
      execFileSync("git", ["-C", at, ...args], {
        encoding: "utf8",
        ...(input === undefined ? {} : { input })
      }).trim()
    git(["init", "-q", "--bare", "."])
    const body = Array.from({ length: 40 }, (_, i) => `  "field${i}": "${"value".repeat(4)}${i}",`).join("\n")
    const oids = Array.from({ length: 200 }, (_, n) =>
      git(["hash-object", "-w", "--stdin"], `{\n${body}\n  "_rev": ${1000 + n}\n}\n`)
    )
    const name = git(["pack-objects", "-q", "--window=50", `${at}/objects/pack/pack`], oids.join("\n"))
    const file = path.join(at, "objects/pack", `pack-${name}`)
    const index = PackIndex.written(file, fs.readFileSync(`${file}.idx`))
    const files = new PackDescriptors(8)
    const bases = new LruCache<GitObject.RawObject, number>(64 * 1024 * 1024)
    const open = () => new PackFile(file, index, files, bases)
    const wrong = () => {
      const pack = open()
      return oids.filter((oid) => {
        const { content } = pack.read(pack.find(Buffer.from(oid, "hex")))
        return GitObject.hash("blob", content) !== oid
      }).length
    }
    assert.strictEqual(wrong(), 0)
    for (let n = 0; n < 2 ** 22; n++) open()
    const found = wrong()
    files.closeAll()
    assert.strictEqual(found, 0, `${found} of 200 reads answered another object`)
  } finally {
    fs.rmSync(at, { recursive: true, force: true })
  }
}, 60_000)
