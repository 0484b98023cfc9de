import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as LocalGit from "../../src/store/remote/local/LocalGit.js"
import type { StoreOptions } from "../../src/store/StoreOptions.js"
import * as StoreArbitrary from "../../src/testing/program/StoreArbitrary.js"
import { memoryHarness, pathIn, programStore, runChecked } from "../support/storePrograms.js"

const directory = mkdtempSync(join(tmpdir(), "laws-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let repositories = 0

/** A new bare repository on this machine; each client opens it as if it were a process of its own. */
const localHarness = (store: StoreOptions = {}) => {
  const repo = `laws/r${repositories++}`
  return {
    remote: LocalGit.scoped({ directory, repo, durability: "none" }),
    store: programStore(store),
    documentPath: pathIn(store)
  }
}

const runs = (count: number) => ({ numRuns: count, endOnFailure: false })

describe("random programs against the model", () => {
  it(
    "three writers on two clients of one bare repository",
    () =>
      FastCheck.assert(
        FastCheck.asyncProperty(StoreArbitrary.program({ writers: 3, steps: 6, faults: false }), (program) =>
          runChecked(program, localHarness())
        ),
        runs(12)
      ),
    60_000
  )

  it(
    "hash-sharded documents in a bare repository",
    () =>
      FastCheck.assert(
        FastCheck.asyncProperty(StoreArbitrary.program({ writers: 2, steps: 6, faults: false }), (program) =>
          runChecked(program, localHarness({ shardBy: "hash", shardDepth: 1 }))
        ),
        runs(8)
      ),
    60_000
  )

  it(
    "leading shards in memory",
    () =>
      FastCheck.assert(
        FastCheck.asyncProperty(StoreArbitrary.program({ writers: 3, steps: 8, faults: false }), (program) =>
          runChecked(program, memoryHarness({}, { shardDepth: 2, shardWidth: 1 }))
        ),
        runs(40)
      ),
    60_000
  )
})
