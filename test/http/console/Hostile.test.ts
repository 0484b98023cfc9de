import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Attempts from "../../../src/http/console/Attempts.js"
import { ConsoleService } from "../../support/browser/ConsoleService.js"
import { ask, seeded, shop, signedIn } from "./Client.js"

layer(seeded, { timeout: 60_000 })("what the console's API is asked that it should not be", (it) => {
  it.effect("history of a collection has a bound, and its limit is checked", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const told: Array<string> = []
      for (const limit of [-1, 1.5, 1e9]) {
        const answer = yield* post("/api/history", { collection: "products", limit })
        if (answer.status !== 422 && answer.status !== 400)
          told.push(`${limit}: ${answer.status} ${answer.text.slice(0, 80)}`)
      }
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("history of a collection whose name breaks the rule is refused", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const told: Array<string> = []
      for (const collection of ["../../x", "..", "", "_index", "a/b", "\u0000"]) {
        const answer = yield* post("/api/history", { collection })
        if (answer.status !== 422)
          told.push(`${JSON.stringify(collection)}: ${answer.status} ${answer.text.slice(0, 100)}`)
      }
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("a projected query of a collection whose name breaks the rule is refused", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const told: Array<string> = []
      for (const collection of ["../_manifest/products", "..", "", "../../x", "a\u0000b"]) {
        const answer = yield* post("/api/query", { collection, projected: true })
        if (answer.status !== 422)
          told.push(`${JSON.stringify(collection)}: ${answer.status} ${answer.text.slice(0, 100)}`)
      }
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("odd queries are answered or refused, never with 500", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const deep = `${"[".repeat(20000)}${"]".repeat(20000)}`
      const told: Array<string> = []
      for (const body of [
        { collection: "products", field: "name", value: deep },
        `{"collection":"products","field":"name","value":${deep}}`,
        `{"collection":"products","filters":[{"path":"name","operator":"contains","value":${deep}}]}`,
        {
          collection: "hostile",
          filters: [{ path: "nested", operator: "contains", value: { toString: 1, valueOf: 1 } }]
        },
        { collection: "products", filters: [{ path: "__proto__.x", operator: "is", value: 1 }] },
        { collection: "products", filters: [{ path: "constructor", operator: "exists" }] },
        { collection: "products", cursor: "../../etc" },
        { collection: "products", cursor: "\u0000" },
        { collection: "products", cursor: "-5", projected: true },
        { collection: "products", cursor: "1e308", projected: true },
        { collection: "products", at: "-x" },
        { collection: "products", at: "--output=/tmp/x" },
        { collection: "products", at: "main:data" },
        { collection: "products", at: "\u0000" },
        { collection: "products", at: "x".repeat(5000) },
        { collection: "products", limit: Number.POSITIVE_INFINITY },
        { collection: "products", field: "a".repeat(60000), value: 1 },
        {
          collection: "products",
          filters: Array.from({ length: 1000 }, () => ({ path: "name", operator: "is", value: 1 }))
        },
        { collection: "products", sort: { path: "__proto__", descending: true }, projected: true },
        { collection: "\u{1f600}" }
      ]) {
        const answer = yield* post("/api/query", body)
        if (answer.status >= 500)
          told.push(
            `${(typeof body === "string" ? body : JSON.stringify(body)).slice(0, 120)}: ${answer.status} ${answer.text.slice(0, 200)}`
          )
      }
      for (const [path, body] of [
        ["/api/document", { collection: "products", id: "../x" }],
        ["/api/document", { collection: "products", id: "a", at: "-x" }],
        ["/api/restore", { collection: "products", id: "a", commit: "-x" }],
        ["/api/restore", { collection: "products", id: "a", commit: "main" }],
        ["/api/restore", { collection: "products", id: "a", commit: "\u0000" }],
        ["/api/login", { ...shop, branch: "--upload-pack=x" }],
        ["/api/login", { ...shop, branch: "\u0000" }],
        ["/api/login", { ...shop, root: "\u0000" }],
        ["/api/login", { ...shop, repo: "../../etc" }],
        ["/api/login", { ...shop, repo: "local/demo/../x" }],
        ["/api/login", { ...shop, token: "\u0000\n" }]
      ] as const) {
        const answer = yield* post(path, body)
        if (answer.status >= 500)
          told.push(
            `${path} ${JSON.stringify(body).slice(0, 120)}: ${answer.status} ${answer.text.slice(0, 200)}`
          )
      }
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect(
    "pages of a projected query hold each document once, also when the manifest becomes current between them",
    () =>
      Effect.gen(function* () {
        const { repository, store } = yield* ConsoleService
        const { get, post } = yield* signedIn
        // Somebody who knows nothing of manifests adds a document.
        const work = mkdtempSync(join(tmpdir(), "chainstore-review-"))
        const git = (...line: ReadonlyArray<string>) =>
          execFileSync("git", ["-C", work, "-c", "user.name=x", "-c", "user.email=x@x", ...line], {
            stdio: "pipe"
          })
        execFileSync("git", ["clone", "-q", "-b", "main", repository, work])
        mkdirSync(join(work, "data/products"), { recursive: true })
        const ids = yield* store.collection("products").list()
        const listing = execFileSync("git", ["-C", work, "ls-files", "data/products"], {
          encoding: "utf8"
        }).split("\n")
        const sample = listing[0]!
        const directory = sample.slice(0, sample.lastIndexOf("/"))
        writeFileSync(
          join(work, directory, "zzz.json"),
          '{"_id":"zzz","_rev":1,"_created_at":"2026-01-01T00:00:00.000Z","_updated_at":"2026-01-01T00:00:00.000Z","name":"Z"}\n'
        )
        git("add", "-A")
        git("commit", "-qm", "by hand")
        git("push", "-q")
        yield* store.invalidate()
        yield* get("/api/collections")
        const first = yield* post("/api/query", { collection: "products", projected: true, limit: 10 })
        assert.strictEqual(first.body.manifest?.current, false, first.text.slice(0, 300))
        yield* store.collection("products").reindex()
        const second = yield* post("/api/query", {
          collection: "products",
          projected: true,
          limit: 10,
          cursor: first.body.cursor
        })
        rmSync(work, { recursive: true })
        const idsOf = (answer: { body: { documents: Array<{ _id: string }> } }) =>
          answer.body.documents.map(({ _id }) => _id)
        const shown = [...idsOf(first), ...idsOf(second)]
        assert.strictEqual(
          new Set(shown).size,
          shown.length,
          `page 2 (from the ${second.body.source}) shows page 1 again of ${ids.length}`
        )
      })
  )

  it.effect(
    "pages of a projected query hold each document once, also when documents are added between them",
    () =>
      Effect.gen(function* () {
        const { store } = yield* ConsoleService
        const { post } = yield* signedIn
        yield* store.collection("products").reindex()
        const first = yield* post("/api/query", { collection: "products", projected: true, limit: 10 })
        assert.strictEqual(first.body.source, "manifest")
        yield* store.collection("products").insert({ name: "A" }, { id: "0000" })
        const second = yield* post("/api/query", {
          collection: "products",
          projected: true,
          limit: 10,
          cursor: first.body.cursor
        })
        yield* store.collection("products").delete("0000")
        const shown = [...first.body.documents, ...second.body.documents].map(
          ({ _id }: { _id: string }) => _id
        )
        assert.strictEqual(
          new Set(shown).size,
          shown.length,
          "a document is shown twice (and after a deletion one would be missing)"
        )
      })
  )

  it.effect("sign-out while a query runs ends it in an answer that is no 500", () =>
    Effect.gen(function* () {
      const { cookie, post } = yield* signedIn
      const { url } = yield* ConsoleService
      const [query, out] = yield* Effect.all(
        [
          post("/api/query", {
            collection: "products",
            filters: [{ path: "nothing", operator: "is", value: 1 }],
            limit: 500
          }),
          ask(url, "POST", "/api/logout", { cookie })
        ],
        { concurrency: 2 }
      )
      assert.strictEqual(out.status, 204)
      assert.notStrictEqual(query.status, 500, query.text)
    })
  )

  it.effect(
    "sign-ins that fail are limited also when they come at once to a remote that takes its time",
    () =>
      Effect.gen(function* () {
        const attempts = yield* Attempts.make
        const answered = yield* Deferred.make<void>()
        let tried = 0
        const attempt = Effect.suspend(() => {
          tried++
          return Effect.zipRight(Deferred.await(answered), Effect.fail("wrong"))
        })
        const all = yield* Effect.fork(
          Effect.all(
            Array.from({ length: 60 }, () => Effect.exit(attempts.guard("1.2.3.4", attempt))),
            { concurrency: "unbounded" }
          )
        )
        yield* Effect.yieldNow({ priority: 1 })
        yield* Deferred.succeed(answered, undefined)
        yield* Fiber.join(all)
        assert.strictEqual(tried, 10)
      })
  )

  it.effect("sign-ins that succeed do not count", () =>
    Effect.gen(function* () {
      const attempts = yield* Attempts.make
      for (let n = 0; n < 30; n++) assert.strictEqual(yield* attempts.guard("1.2.3.4", Effect.succeed(n)), n)
    })
  )
})
