import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { isRoot } from "./support/elsewhere.js"
import { git, put, temporary, write } from "./support/temporary.js"

/** Commits, for `git fast-import`, whose commit-graph has more than 100,000 bytes. */
const commits = Array.from({ length: 4_000 }, (_, n) => {
  const from = n === 0 ? "" : `from :${n}\n`
  return `commit refs/heads/main\nmark :${n + 1}\ncommitter a <a@b> ${1_700_000_000 + n} +0000\ndata 1\nx\n${from}M 644 inline f${n % 50}\ndata 1\n${n % 10}\n`
}).join("\n")

// Likely on a disk that is nearly full: Git fails to write the commit-graph, and leaves the part that it has written. Bad: all writes fail
// for want of space for a day.
describe.skipIf(!isRoot)("a disk without space for the commit-graph", () => {
  it.scopedLive(
    "is not filled by what the failed Git command leaves",
    () =>
      Effect.gen(function* () {
        const disk = yield* temporary
        assert.strictEqual(spawnSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", disk]).status, 0)
        yield* Effect.addFinalizer(() => Effect.sync(() => spawnSync("umount", ["-l", disk])))
        const directory = `${disk}/test.git`
        git(disk, "init", "-q", "--bare", "-b", "main", directory)
        const imported = spawnSync("git", ["-C", directory, "fast-import", "--quiet"], { input: commits })
        assert.strictEqual(imported.status, 0, String(imported.stderr))
        const left = () => {
          const graphs = `${directory}/objects/info/commit-graphs`
          return fs.existsSync(graphs) ? fs.readdirSync(graphs).filter((name) => name.startsWith("tmp_")) : []
        }
        yield* Effect.scoped(
          Effect.gen(function* () {
            const repository = yield* Engine.open({ directory, maintenance: false })
            const { bavail, bsize } = fs.statfsSync(disk)
            fs.writeFileSync(`${disk}/others`, Buffer.alloc(bavail * bsize - 100_000))
            yield* repository.maintain
            yield* Effect.repeat(Effect.sleep(100), { until: () => left().length === 0, times: 80 })
            assert.deepStrictEqual(left(), [])
            yield* write(repository, [put("a", "1")])
          })
        )
      }),
    60_000
  )
})
