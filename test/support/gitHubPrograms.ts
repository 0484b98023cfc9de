import { assert } from "@effect/vitest"
import { Effect, FastCheck, Logger, LogLevel, Option } from "effect"
import type { GitHubOptions } from "../../src/store/github/GitHub.js"
import * as RandomProgram from "../../src/testing/RandomProgram.js"
import type { Program } from "../../src/testing/StoreProgram.js"
import { fresh, remoteOf } from "./github/Remote.js"
import { programFields, programStore } from "./storePrograms.js"

/** Random programs through the GitHub client and a server that speaks GitHub's API over a socket. */
export const githubHolds = (
  options: Partial<GitHubOptions>,
  programs: FastCheck.Arbitrary<Program>,
  numRuns: number,
  timeLimit = 45_000
): Promise<void> => {
  const check = (program: Program) =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh(options)
      // The bootstrap of an empty repository takes two commits there, which no model foresees.
      yield* remote.commit("main", Option.none(), {
        message: "foreign seed",
        changes: [{ _tag: "Put", path: "README.md", content: new Uint8Array([35]) }]
      })
      const problems = yield* RandomProgram.check(
        program,
        { remote: remoteOf(server, options), store: programStore() },
        programFields
      )
      assert.strictEqual(problems.join("\n"), "")
      assert.deepStrictEqual(server.problems, [])
    }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None), Effect.runPromise)
  return FastCheck.assert(FastCheck.asyncProperty(programs, check), {
    numRuns,
    interruptAfterTimeLimit: timeLimit
  })
}
