import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ConsoleService } from "../../support/browser/ConsoleService.js"
import { productId } from "../../support/browser/Seed.js"
import { ask, seeded, signedIn } from "./Client.js"

layer(seeded, { timeout: 60_000 })("the overview of a repository in the console's API", (it) => {
  it.effect("counts the documents of collections, in the order of the request", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const counts = (collections: ReadonlyArray<string>) => post("/api/counts", { collections })
      assert.deepStrictEqual((yield* counts(["products", "absent", "articles"])).body, {
        counts: [200, 0, 12]
      })
      assert.deepStrictEqual((yield* counts([])).body, { counts: [] })
      assert.strictEqual((yield* counts(Array.from({ length: 101 }, (_, i) => `c${i}`))).status, 400)
      const invalid = [
        "a/b",
        "",
        ".",
        "..",
        ".git",
        "_schemas",
        "a\u0000b",
        "\ud800",
        "x".repeat(300),
        "a\\b",
        " a",
        "é",
        "a\n"
      ]
      for (const name of invalid) {
        const { body, status } = yield* counts(["products", name])
        assert.deepStrictEqual([name, status, body.error], [name, 422, "ValidationError"])
        assert.include(body.message, `collection ${JSON.stringify(name)}: a collection's name`)
      }
    })
  )

  it.effect("names the documents that changed since a commit, of both sides of a deletion", () =>
    Effect.gen(function* () {
      const { store } = yield* ConsoleService
      const { post } = yield* signedIn
      const { head } = (yield* post("/api/newer", {})).body
      const since = (commit: string) => post("/api/changes-since", { commit })
      assert.deepStrictEqual((yield* since(head)).body, { total: 0, documents: [] })
      const products = store.collection("products")
      yield* products.update(productId(1), { price: 1 })
      yield* products.delete(productId(2))
      yield* store.collection("articles").insert({ title: "new" }, { id: "a-new" })
      assert.deepStrictEqual((yield* since(head)).body, {
        total: 3,
        documents: [
          { collection: "articles", id: "a-new", kind: "added" },
          { collection: "products", id: productId(1), kind: "changed" },
          { collection: "products", id: productId(2), kind: "removed" }
        ]
      })
      yield* store.batch({ message: "many" }, (batch) =>
        Effect.forEach(
          Array.from({ length: 60 }, (_, i) => `more-${i}`),
          (id) => batch.put("articles", id, { title: id }),
          { discard: true }
        )
      )
      const many = (yield* since(head)).body
      assert.deepStrictEqual([many.total, many.documents.length], [63, 50])
      assert.strictEqual((yield* since("1".repeat(40))).status, 404)
    })
  )

  it.effect("returns the findings of doctor, and of every document if asked", () =>
    Effect.gen(function* () {
      const { url } = yield* ConsoleService
      const { cookie, post } = yield* signedIn
      const findings = (deep: boolean) =>
        Effect.map(post("/api/health", { deep }), ({ body }) => body.findings)
      const texts = (found: ReadonlyArray<{ readonly message: string; readonly severity: string }>) =>
        found.map(({ message, severity }) => `${severity}: ${message}`)
      const quick = texts(yield* findings(false))
      assert.include(quick, "ok: these credentials may read and write")
      const deep = texts(yield* findings(true))
      assert.notDeepEqual(deep, quick)
      assert.isTrue(
        deep.some((text) => /every document|all documents|documents read/.test(text)),
        deep.join("\n")
      )
      const foreign = yield* ask(url, "POST", "/api/health", {
        cookie,
        body: { deep: false },
        headers: { origin: "https://elsewhere.example" }
      })
      assert.strictEqual(foreign.status, 403)
    })
  )
})
