import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { assert } from "@effect/vitest"
import { Effect, FastCheck, Logger, LogLevel, Redacted, type Scope } from "effect"
import type { GitRemoteService } from "../../src/store/remote/GitRemote.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as RandomProgram from "../../src/testing/history/RandomProgram.js"
import type { Program } from "../../src/testing/program/StoreProgram.js"
import * as HttpBackend from "./git/HttpBackend.js"
import { faultHeader, injectFaults, redirectTarget, type WireFault, wireFaults } from "./git/WireFaults.js"
import { type ProgramSettings, pathIn, programFields, programStore } from "./storePrograms.js"

/** Numbers from 0 to below 1, always the same for a seed (xorshift). */
export const numbers = (seed: number) => {
  let state = (seed ^ 0x9e3779b9) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Draws a fault for each so-manieth request. */
export const drawing = (seed: number, rate: number): (() => WireFault | undefined) => {
  const next = numbers(seed)
  return () => (next() < rate ? wireFaults[Math.floor(next() * wireFaults.length)] : undefined)
}

/** A client of a Git server whose requests meet the faults of the server's interceptor. */
export const exposedClient = (
  url: string,
  options: Partial<GitHost.GitHostOptions> = {}
): Effect.Effect<GitRemoteService, unknown, Scope.Scope> =>
  Effect.flatMap(HttpClient.HttpClient, (client) =>
    GitHost.scoped({
      url,
      session: HttpClient.mapRequest(client, HttpClientRequest.setHeader(faultHeader, "1")),
      token: Redacted.make("never-elsewhere"),
      timeout: "20 seconds",
      ...options
    })
  ).pipe(Effect.provide(FetchHttpClient.layer))

/**
 * Random programs over Git's protocol and `git http-backend`, in which so large a share of the requests meets a fault.
 * Afterwards Git's own check of the repository must find nothing.
 */
export const wireHolds = (
  programs: FastCheck.Arbitrary<Program>,
  options: ProgramSettings & {
    readonly rate: number
    readonly numRuns: number
    readonly seed?: number | undefined
    readonly settings?: ReadonlyArray<string> | undefined
    readonly timeLimit?: number | undefined
  }
): Promise<void> =>
  Effect.gen(function* () {
    const backend = yield* HttpBackend.make
    const { reached, url: redirectTo } = yield* redirectTarget
    let repositories = 0
    const check = (program: Program, seed: number, format: 1 | 2) =>
      Effect.gen(function* () {
        const name = `programs${repositories++}.git`
        const url = backend.create(name, "receive.fsckObjects=true", ...(options.settings ?? []))
        backend.intercept = injectFaults(backend, drawing(seed, options.rate), redirectTo)
        // The first client and the last one only look on: no fault may keep them from it.
        const last = 1 + Math.ceil(program.writers.length / 2)
        let clients = 0
        const remote = Effect.suspend(() => {
          const looksOn = clients === 0 || clients >= last
          clients++
          return looksOn ? GitHost.scoped({ url }) : exposedClient(url)
        })
        const found = yield* RandomProgram.check(
          program,
          {
            remote,
            store: programStore({ format, ...options.store }),
            documentPath: pathIn(options.store ?? {})
          },
          options.fields ?? programFields
        )
        assert.strictEqual(found.join("\n"), "")
        assert.strictEqual(backend.git(name, "fsck", "--strict", "--no-dangling"), "")
        assert.deepStrictEqual(reached, [])
      }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None), Effect.runPromise)
    yield* Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          programs,
          FastCheck.integer(),
          FastCheck.constantFrom(1 as const, 2 as const),
          check
        ),
        {
          numRuns: options.numRuns,
          interruptAfterTimeLimit: options.timeLimit ?? 45_000,
          ...(options.seed === undefined ? {} : { seed: options.seed })
        }
      )
    )
  }).pipe(Effect.scoped, Effect.runPromise)
