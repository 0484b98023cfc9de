import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import { HeadCache } from "../../../../src/store/remote/github/heads/HeadCache.js"
import { LogicalClock } from "../../../../src/store/remote/github/heads/LogicalClock.js"
import { maxReplicaLag, WrittenFiles } from "../../../../src/store/remote/github/heads/WrittenFiles.js"

const oid = (n: number) => n.toString(16).padStart(40, "0") as Oid
const head = (n: number) => Option.some({ commit: oid(n), tree: oid(n + 100_000) })

describe("what is remembered of a file that is written all the time", () => {
  const written = (count: number, every: number) => {
    const files = new WrittenFiles()
    for (let n = 1; n <= count; n++) {
      files.note(
        "a",
        {
          after: oid(n),
          at: n * every,
          time: n,
          superseded: new Map([[oid(n - 1), n * every]]),
          newer: new Set()
        },
        n - 1,
        n * every
      )
    }
    return files.get("a", count * every)!
  }

  // WrittenFiles.ts: `lag` is "How long a replica may lag behind a write of ours": versions that were replaced before that are of no use.
  it("does not grow with every write", () => {
    // Two hours of one write in two seconds.
    assert.isAtMost(written(3_600, 2_000).superseded.size, 100)
  })

  // The same: a replica that lags for a minute at most does not show what was replaced ten minutes ago.
  it("does not take a version of ten minutes ago for one that a machine is behind with", () => {
    assert.isFalse(written(20, 30_000).superseded.has(oid(0)))
  })
})

describe("what is remembered of a branch", () => {
  // WrittenFiles.ts: a replica lags behind a write of ours for `lag` at most: what is shown after that is not older than the write.
  it("doubts no head longer than replicas may lag behind our last write", () => {
    const memory = new HeadCache(new LogicalClock())
    memory.recordMove(Option.some(oid(1)), { commit: oid(2), tree: Option.some(oid(3)) }, 0, 0)
    // Shown a moment before the end, and found to be below our own.
    memory.supersede(head(7), maxReplicaLag - 1_000)
    assert.isNotTrue(memory.isStale(head(7), [], maxReplicaLag + 1_000))
  })
})
