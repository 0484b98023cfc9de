import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as SignInThrottle from "../../../src/http/console/SignInThrottle.js"
import { ConsoleService } from "../../support/browser/ConsoleService.js"
import { type Asked, ask, seeded, shop, signedIn, wrongAnswers } from "./Client.js"

layer(seeded, { timeout: 60_000 })("what the console's API is asked that it should not be", (it) => {
  const refused: ReadonlyArray<readonly [what: string, path: string, bodies: ReadonlyArray<object>]> = [
    [
      "history with a limit that is none",
      "/api/history",
      [-1, 1.5, 1e9].map((limit) => ({ collection: "products", limit }))
    ],
    [
      "history of a collection whose name breaks the rule",
      "/api/history",
      ["../../x", "..", "", "_index", "a/b", "\u0000"].map((collection) => ({ collection }))
    ],
    [
      "a projected query of a collection whose name breaks the rule",
      "/api/query",
      ["../_manifest/products", "..", "", "../../x", "a\u0000b"].map((collection) => ({
        collection,
        projected: true
      }))
    ]
  ]
  for (const [what, path, bodies] of refused)
    it.effect(`${what} is refused`, () =>
      Effect.gen(function* () {
        const { post } = yield* signedIn
        const asked = bodies.map((body) => ["POST", path, body] as const)
        const send = (_: string, to: string, body: unknown) => post(to, body)
        assert.deepStrictEqual(yield* wrongAnswers(asked, send, ({ status }) => status === 422), [])
      })
    )

  it.effect("unusual queries succeed or are refused, never with 500", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const deep = `${"[".repeat(20000)}${"]".repeat(20000)}`
      const filtered = (path: string, operator: string, value?: unknown) => ({
        collection: "products",
        filters: [{ path, operator, value }]
      })
      const queries = [
        { collection: "products", field: "name", value: deep },
        `{"collection":"products","field":"name","value":${deep}}`,
        `{"collection":"products","filters":[{"path":"name","operator":"contains","value":${deep}}]}`,
        { ...filtered("nested", "contains", { toString: 1, valueOf: 1 }), collection: "hostile" },
        filtered("__proto__.x", "is", 1),
        filtered("constructor", "exists"),
        ...["../../etc", "\u0000"].map((cursor) => ({ collection: "products", cursor })),
        ...["-5", "1e308"].map((cursor) => ({ collection: "products", cursor, projected: true })),
        ...["-x", "--output=/tmp/x", "main:data", "\u0000", "x".repeat(5000)].map((at) => ({
          collection: "products",
          at
        })),
        { collection: "products", limit: Number.POSITIVE_INFINITY },
        { collection: "products", field: "a".repeat(60000), value: 1 },
        {
          collection: "products",
          filters: Array.from({ length: 1000 }, () => ({ path: "name", operator: "is", value: 1 }))
        },
        { collection: "products", sort: { path: "__proto__", descending: true }, projected: true },
        { collection: "\u{1f600}" }
      ]
      const asked: ReadonlyArray<Asked> = [
        ...queries.map((body) => ["POST", "/api/query", body] as const),
        ["POST", "/api/document", { collection: "products", id: "../x" }],
        ["POST", "/api/document", { collection: "products", id: "a", at: "-x" }],
        ...["-x", "main", "\u0000"].map(
          (commit) => ["POST", "/api/restore", { collection: "products", id: "a", commit }] as const
        ),
        ...[
          { branch: "--upload-pack=x" },
          { branch: "\u0000" },
          { root: "\u0000" },
          { repo: "../../etc" },
          { repo: "local/demo/../x" },
          { token: "\u0000\n" }
        ].map((wrong) => ["POST", "/api/login", { ...shop, ...wrong }] as const)
      ]
      const send = (_: string, path: string, body: unknown) => post(path, body)
      assert.deepStrictEqual(yield* wrongAnswers(asked, send, ({ status }) => status < 500), [])
    })
  )

  it.effect(
    "pages of a projected query hold each document once, also when the manifest becomes current between them",
    () =>
      Effect.gen(function* () {
        const { repository, store } = yield* ConsoleService
        const { get, post } = yield* signedIn
        // A client without support for manifests adds a document.
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

  it.effect("sign-out during a query ends it with a response other than 500", () =>
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
        const attempts = yield* SignInThrottle.make
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
      const attempts = yield* SignInThrottle.make
      for (let n = 0; n < 30; n++) assert.strictEqual(yield* attempts.guard("1.2.3.4", Effect.succeed(n)), n)
    })
  )
})
