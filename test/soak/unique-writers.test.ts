import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect, Either, type Scope } from "effect"
import type { ConflictError } from "../../src/domain/errors/StoreError.js"
import { GitRemote, type GitRemoteService } from "../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../src/store/remote/local/LocalGit.js"
import * as Store from "../../src/store/Store.js"
import { derivedProblems, uniqueProblems } from "../../src/testing/history/DerivedCheck.js"
import { readHistory } from "../../src/testing/history/HistoryReader.js"
import { repositories } from "../store/core/Remotes.js"

const clients = 8
const writers = 64
const rounds = 5

const onDisk = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "unique-"))),
    (directory) =>
      Effect.sync(() => {
        for (const name of readdirSync(join(directory, "local"))) {
          execFileSync("git", ["-C", join(directory, "local", name), "fsck", "--strict"], { stdio: "pipe" })
        }
        rmSync(directory, { recursive: true, force: true })
      })
  ),
  (directory) => LocalGit.scoped({ directory, repo: "local/unique", durability: "none" })
)

type Client = Effect.Effect<GitRemoteService, unknown, Scope.Scope>
const places: ReadonlyArray<readonly [string, Effect.Effect<Client, unknown, Scope.Scope>]> = [
  ["a repository of this machine", onDisk],
  ...repositories
]

const fields = {
  indexes: {
    people: [{ fields: ["mail"], unique: true }, { fields: ["n", { field: "mail", order: "desc" }] }]
  },
  manifests: { people: ["n"] }
} as const

for (const [name, place] of places) {
  it.scopedLive(`of ${writers} writers of one value exactly one succeeds, on ${name}`, () =>
    Effect.gen(function* () {
      const client = yield* place
      const stores = yield* Effect.forEach(Array.from({ length: clients }), () =>
        Effect.flatMap(client, (remote) =>
          Effect.provideService(
            Store.make({ format: 2, ...fields, deadline: "20 minutes" }),
            GitRemote,
            remote
          )
        )
      )
      yield* stores[0]!.collection("people").insert({ mail: "first", n: -1 })
      for (let round = 0; round < rounds; round++) {
        const tried = yield* Effect.forEach(
          Array.from({ length: writers }, (_, n) => n),
          (n) => {
            const people = stores[n % clients]!.collection("people")
            const document = { mail: `${round}@example.org`, n }
            // Every fourth one writes a value of its own beside, so that there is something to wait for.
            const mine = n % 4 === 0 ? people.upsert(`own${n}`, { mail: `own ${n}`, n: round }) : Effect.void
            return Effect.zipRight(mine, Effect.either(people.insert(document, { id: `r${round}n${n}` })))
          },
          { concurrency: "unbounded" }
        )
        const won = tried.filter(Either.isRight).map(({ right }) => right)
        assert.strictEqual(won.length, 1)
        for (const { left } of tried.filter(Either.isLeft)) {
          assert.strictEqual((left as ConflictError).violations?.[0]?.other, won[0], left.message)
        }
      }
      const observer = yield* client
      for (const snapshot of yield* readHistory(observer, "main", "data")) {
        assert.deepStrictEqual(derivedProblems(snapshot, "people", fields), [])
        assert.deepStrictEqual(uniqueProblems(snapshot, "people", fields), [])
      }
    })
  )
}
