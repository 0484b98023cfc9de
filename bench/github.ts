/**
 * Requests per operation, counted before our host: over REST and GraphQL beside the reference's counts and the most that
 * we allow ourselves, then with writes by push and by Git's protocol alone: `npm run bench github`.
 */

import { execFileSync } from "node:child_process"
import { cpSync, rmSync } from "node:fs"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { Effect, Logger, LogLevel, Redacted } from "effect"
import * as GitHost from "../src/store/remote/wire/GitHost.js"
import { newRepository, scopedClientOf } from "../test/support/github/OnHost.js"
import { measure, print, type Row, rows, run, seed } from "../test/support/github/RequestTable.js"
import { layer as host } from "../test/support/host/HostServer.js"

let requests = 0
const counting = Effect.map(HttpClient.HttpClient, (client) =>
  HttpClient.tapRequest(client, () => Effect.sync(() => void requests++))
).pipe(Effect.provide(FetchHttpClient.layer))

type Repository = Effect.Effect.Success<typeof newRepository>

const ways = {
  push: (repository: Repository, session: HttpClient.HttpClient) =>
    scopedClientOf(repository, { commitVia: "push", session }),
  protocol: ({ repo, server }: Repository, session: HttpClient.HttpClient) =>
    GitHost.scoped({ url: `${server.url}/${repo}.git`, token: Redacted.make(server.token), session })
}

/** A row in a copy of a prepared repository: its requests. */
const count = (row: Row, from: Repository, way: keyof typeof ways, state: "opened" | "used") =>
  Effect.gen(function* () {
    const repository = yield* newRepository
    const { directory } = repository
    rmSync(directory, { recursive: true })
    cpSync(from.directory, directory, { recursive: true })
    const remote = yield* ways[way](repository, yield* counting)
    const git = (args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", directory, ...args], { encoding: "utf8" }).trim()
    const begin = Effect.sync(() => {
      requests = 0
    })
    yield* run(row, { remote, git }, state, begin)
    return requests
  }).pipe(Effect.scoped)

/** The columns of the table: each row when the store is used already, and as the first call of a process. */
const columns = Effect.forEach(rows, (row) =>
  Effect.gen(function* () {
    const from = yield* newRepository
    yield* Effect.scoped(Effect.flatMap(scopedClientOf(from), (remote) => seed(row, remote)))
    const cells: Array<number> = []
    for (const way of ["push", "protocol"] as const) {
      for (const state of ["used", "opened"] as const) cells.push(yield* count(row, from, way, state))
    }
    return `| ${[row.operation, ...cells].join(" | ")} |`
  })
).pipe(Effect.provide(host()), Logger.withMinimumLogLevel(LogLevel.Warning))

console.log(print(await Effect.runPromise(Effect.forEach(rows, measure))))
console.log(`
| operation | by push | first call, by push | Git's protocol | first call, Git's protocol |
| --- | --- | --- | --- | --- |
${(await Effect.runPromise(columns)).join("\n")}`)
