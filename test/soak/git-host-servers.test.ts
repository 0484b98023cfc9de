import { assert, describe, it } from "@effect/vitest"
import { StoreLaws } from "chainstore/testing"
import { Effect, FastCheck, Logger, LogLevel } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as RandomProgram from "../../src/testing/history/RandomProgram.js"
import * as StoreArbitrary from "../../src/testing/program/StoreArbitrary.js"
import { gitRemoteContract } from "../contract/GitRemoteContract.js"
import { gitServers } from "../support/git/GitServers.js"
import { pathIn, programFields, programStore } from "../support/storePrograms.js"

/** `CHAINSTORE_SOAK_RUNS` multiplies the random programs. */
const times = Number(process.env["CHAINSTORE_SOAK_RUNS"] ?? 1)

const sizes = {
  files: 100,
  largeBlob: 100_000,
  listing: 500,
  fibres: 8,
  interruptions: 8,
  interruptWithin: 50
}

const programs = StoreArbitrary.program({ writers: 3, steps: 6, faults: true })

for (const { isInstalled: isThere, name, serve } of gitServers) {
  if (!isThere) {
    console.warn(`${name} is not on this machine: nothing is held against it`)
    continue
  }

  /** A repository of the server, in which stock Git finds nothing wrong afterwards. */
  const served = Effect.tap(serve, ({ git }) =>
    Effect.addFinalizer(() =>
      Effect.sync(() => assert.strictEqual(git("fsck", "--strict", "--no-dangling"), ""))
    )
  )

  gitRemoteContract({
    name: `GitHost over ${name}`,
    make: Effect.gen(function* () {
      const { git, options } = yield* served
      const open = GitHost.scoped(options)
      return {
        remote: yield* open,
        another: open,
        force: (branch: string, at: Oid) => Effect.sync(() => git("update-ref", `refs/heads/${branch}`, at)),
        tag: (tag: string, at: Oid) => Effect.sync(() => git("update-ref", `refs/tags/${tag}`, at))
      }
    }),
    sizes,
    timeout: 120_000
  })

  describe(`a store by ${name}`, () => {
    for (const law of Object.values(StoreLaws.all)) {
      it.live(
        law.name,
        () =>
          Effect.gen(function* () {
            const { options } = yield* served
            const subject = { remote: GitHost.scoped(options) }
            yield* Effect.promise(() => StoreLaws.check(law, subject, { numRuns: 1 }))
          }).pipe(Effect.scoped),
        300_000
      )
    }

    it("explains the results of random programs by the order of its commits", () => {
      const check = (program: Parameters<typeof RandomProgram.check>[0], format: 1 | 2) =>
        Effect.gen(function* () {
          const { options } = yield* served
          const harness = {
            remote: GitHost.scoped(options),
            store: programStore({ format }),
            documentPath: pathIn({})
          }
          const found = yield* RandomProgram.check(program, harness, programFields)
          assert.strictEqual(found.join("\n"), "")
        }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None), Effect.runPromise)
      return FastCheck.assert(
        FastCheck.asyncProperty(programs, FastCheck.constantFrom(1 as const, 2 as const), check),
        { numRuns: 5 * times, interruptAfterTimeLimit: 600_000 }
      )
    })
  })
}
