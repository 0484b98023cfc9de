import { FetchHttpClient } from "@effect/platform"
import { assert } from "@effect/vitest"
import { Context, Effect, FastCheck, Layer, Logger, LogLevel, Option, Redacted, type Scope } from "effect"
import type { GitRemoteService } from "../../src/store/remote/GitRemote.js"
import * as GitHub from "../../src/store/remote/github/GitHub.js"
import * as RandomProgram from "../../src/testing/history/RandomProgram.js"
import type { Program } from "../../src/testing/program/StoreProgram.js"
import { fresh, remoteOf } from "./github/Remote.js"
import { HostServer, layer as host } from "./host/HostServer.js"
import { type ProgramSettings, programFields, programStore } from "./storePrograms.js"

/** An empty repository behind a socket: new clients of it, and what its server found wrong with their requests. */
interface Subject {
  readonly connect: Effect.Effect<GitRemoteService, unknown, Scope.Scope>
  readonly problems: () => ReadonlyArray<unknown>
}

const holds = (
  subject: Effect.Effect<Subject, unknown, Scope.Scope>,
  programs: FastCheck.Arbitrary<Program>,
  numRuns: number,
  timeLimit: number,
  { fields = programFields, store }: ProgramSettings
): Promise<void> => {
  const check = (program: Program, format: 1 | 2) =>
    Effect.gen(function* () {
      const { connect, problems } = yield* subject
      // The bootstrap of an empty repository takes two commits there, which no model foresees.
      yield* Effect.flatMap(connect, (remote) =>
        remote.commit("main", Option.none(), {
          message: "foreign seed",
          changes: [{ _tag: "Put", path: "README.md", content: new Uint8Array([35]) }]
        })
      )
      const found = yield* RandomProgram.check(
        program,
        { remote: connect, store: programStore({ format, ...store }) },
        fields
      )
      assert.strictEqual(found.join("\n"), "")
      assert.deepStrictEqual(problems(), [])
    }).pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.None), Effect.runPromise)
  return FastCheck.assert(
    FastCheck.asyncProperty(programs, FastCheck.constantFrom(1 as const, 2 as const), check),
    {
      numRuns,
      interruptAfterTimeLimit: timeLimit
    }
  )
}

/** Random programs through the GitHub client and a server of the tests that speaks GitHub's API over a socket. */
export const githubHolds = (
  options: Partial<GitHub.GitHubOptions>,
  programs: FastCheck.Arbitrary<Program>,
  numRuns: number,
  timeLimit = 45_000,
  settings: ProgramSettings = {}
): Promise<void> => {
  const subject = Effect.map(fresh(options), ({ server }) => ({
    connect: remoteOf(server, options),
    problems: () => server.problems
  }))
  return holds(subject, programs, numRuns, timeLimit, settings)
}

/** The same through our own host over bare repositories: one server, a repository for each program. */
export const hostHolds = (
  options: Partial<GitHub.GitHubOptions>,
  programs: FastCheck.Arbitrary<Program>,
  numRuns: number,
  timeLimit = 45_000,
  settings: ProgramSettings = {}
): Promise<void> =>
  Effect.gen(function* () {
    const server = Context.get(yield* Layer.build(host()), HostServer)
    let repositories = 0
    let clients = 0
    const subject = Effect.promise(async (): Promise<Subject> => {
      const name = `programs${++repositories}`
      const made = await fetch(`${server.api}/user/repos`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.token}`, connection: "close" },
        body: JSON.stringify({ name })
      })
      assert.strictEqual(made.status, 201)
      // Over REST equal commits of one second are one commit (as on GitHub), so every client signs with its own name.
      const author = () => ({ name: `Client ${++clients}`, email: "client@example.org" })
      return {
        problems: () => [],
        connect: Effect.suspend(() =>
          GitHub.scoped({
            repo: `local/${name}`,
            apiUrl: server.api,
            rawUrl: server.raw,
            token: Redacted.make(server.token),
            paceRequests: false,
            ...(options.commitVia === "graphql" ? {} : { author: author() }),
            ...options
          })
        ).pipe(Effect.provide(FetchHttpClient.layer))
      }
    })
    yield* Effect.promise(() => holds(subject, programs, numRuns, timeLimit, settings))
  }).pipe(Effect.scoped, Effect.runPromise)
