import { assert, layer } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { ConsoleService } from "../../support/browser/ConsoleService.js"
import { productId } from "../../support/browser/Seed.js"
import { ask, seeded, shop, signedIn, signIn } from "./Client.js"

layer(seeded, { timeout: 60_000 })("the console's API", (it) => {
  it.effect("signs in to the demo, to a repository with a token, and refuses others", () =>
    Effect.gen(function* () {
      const { token } = yield* ConsoleService
      const answer = yield* signIn()
      assert.strictEqual(answer.status, 200)
      const { head, ...session } = answer.body
      assert.match(String(head), /^[0-9a-f]{40}$/)
      assert.deepStrictEqual(session, {
        api: "embedded",
        repo: "test/shop",
        branch: "main",
        root: "data",
        collections: ["articles", "hostile", "products"],
        readOnly: false
      })
      const demo = yield* signIn({ api: "embedded", repo: "local/demo" })
      assert.notStrictEqual(demo.status, 401, demo.text)
      const wrong: ReadonlyArray<readonly [unknown, number, string, string]> = [
        [{ ...shop, token: "no such token" }, 401, "AuthError", "token"],
        [{ ...shop, repo: "local/other" }, 401, "AuthError", "token"],
        [{ ...shop, token, repo: "local/other" }, 404, "NotFoundError", "repository"],
        [{ ...shop, token, branch: "none" }, 404, "NotFoundError", "branch"],
        [{ ...shop, token, api: "http://169.254.169.254" }, 422, "ValidationError", "api"],
        [{ ...shop, token, root: "../etc" }, 422, "ValidationError", "root"],
        [{ repo: 5 }, 400, "ValidationError", "repo"],
        ["{", 400, "ValidationError", "JSON"],
        ["[]", 400, "ValidationError", "object"]
      ]
      for (const [body, status, error, word] of wrong) {
        const refused = yield* signIn(body)
        assert.strictEqual(refused.status, status, JSON.stringify(body) + refused.text)
        assert.deepStrictEqual(Object.keys(refused.body).sort(), ["error", "message"])
        assert.strictEqual(refused.body.error, error)
        assert.include(refused.body.message, word)
        assert.isUndefined(refused.cookie)
      }
    })
  )

  it.effect("ends the sessions of a token that is deleted or that gets other rights", () =>
    Effect.gen(function* () {
      const { tokens, url } = yield* ConsoleService
      const grant = (access: "read" | "write") => ({ repository: "test/shop", access })
      const token = Redacted.value(yield* tokens.issue("ann", [grant("read")]))
      const { body, cookie } = yield* signIn({ ...shop, token })
      assert.isTrue(body.readOnly)
      const status = Effect.map(ask(url, "GET", "/api/collections", { cookie }), (reply) => reply.status)
      yield* tokens.issue("bob", [grant("write")])
      assert.strictEqual(yield* status, 200)
      assert.strictEqual(yield* tokens.revoke("ann"), 1)
      assert.strictEqual(yield* status, 401)
      assert.strictEqual((yield* signIn({ ...shop, token })).status, 401)
      yield* tokens.revoke("bob")
    })
  )

  it.effect("lists collections, and queries by field and value as documented", () =>
    Effect.gen(function* () {
      const { get, post } = yield* signedIn
      assert.deepStrictEqual((yield* get("/api/collections")).body, {
        repo: "test/shop",
        branch: "main",
        root: "data",
        collections: ["articles", "hostile", "products"]
      })
      const first = (yield* post("/api/query", { collection: "products" })).body
      assert.strictEqual(first.documents.length, 50)
      assert.deepStrictEqual(first.columns.slice(0, 3), ["_id", "_rev", "_updated_at"])
      assert.strictEqual(first.cursor, productId(50))
      assert.strictEqual(first.source, "scan")
      const next = (yield* post("/api/query", { collection: "products", limit: 500, cursor: first.cursor }))
        .body
      assert.strictEqual(next.documents.length, 150)
      assert.strictEqual(next.cursor, null)

      const indexed = (yield* post("/api/query", {
        collection: "products",
        field: "category",
        value: "tools",
        limit: 10
      })).body
      assert.strictEqual(indexed.source, "index")
      assert.strictEqual(indexed.documents.length, 10)
      assert.isTrue(indexed.documents.every((one: { category: string }) => one.category === "tools"))
      assert.isString(indexed.cursor)

      const count = (value: unknown) =>
        Effect.map(
          post("/api/query", { collection: "products", field: "price", value }),
          ({ body }) => body.documents.length
        )
      assert.strictEqual(yield* count(12.5), 1)
      assert.strictEqual(yield* count("12.5"), 1)
      assert.strictEqual(yield* count('"12.5"'), 0)
      assert.strictEqual(yield* count("plain text"), 0)
    })
  )

  it.effect("takes the conditions and the order of a collection's query", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const asked = {
        collection: "products",
        where: { category: "tools", "size.width": { lessThan: 20 } },
        orderBy: [{ field: "price", order: "desc" }],
        limit: 2
      }
      const first = (yield* post("/api/query", asked)).body
      assert.strictEqual(first.source, "index")
      const second = (yield* post("/api/query", { ...asked, limit: 500, cursor: first.cursor })).body
      const found = [...first.documents, ...second.documents]
      assert.isAbove(second.documents.length, 0)
      assert.deepStrictEqual(
        found.map(({ price }: { price: number }) => price),
        found.map(({ price }: { price: number }) => price).sort((a, b) => b - a)
      )
      assert.isTrue(found.every((one) => one.category === "tools" && one.size.width < 20))
      const refused = yield* post("/api/query", { ...asked, where: { price: { atLeest: 1 } } })
      assert.strictEqual(refused.status, 422)
      assert.match(refused.body.message, /did you mean atLeast/)
      assert.strictEqual((yield* post("/api/query", { ...asked, field: "price", value: 1 })).status, 422)
      assert.strictEqual((yield* post("/api/query", { ...asked, where: 5 })).status, 400)
    })
  )

  it.effect("filters inside nested JSON, by several conditions, page by page", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const filters = [
        { path: "size.width", operator: "lessThan", value: 10 },
        { path: "tags", operator: "contains", value: "kiln" },
        { path: "category", operator: "is", value: "office" }
      ]
      const whole = (yield* post("/api/query", { collection: "products", filters, limit: 500 })).body
      assert.isAbove(whole.documents.length, 1)
      for (const one of whole.documents) {
        assert.isBelow(one.size.width, 10)
        assert.include(one.tags, "kiln")
        assert.strictEqual(one.category, "office")
      }
      const ids: Array<string> = []
      let cursor: string | null = null
      do {
        const page: { documents: ReadonlyArray<{ _id: string }>; cursor: string | null } = (yield* post(
          "/api/query",
          {
            collection: "products",
            filters,
            limit: 1,
            cursor
          }
        )).body
        ids.push(...page.documents.map(({ _id }) => _id))
        cursor = page.cursor
      } while (cursor !== null)
      assert.deepStrictEqual(
        ids,
        whole.documents.map(({ _id }: { _id: string }) => _id)
      )
    })
  )

  it.effect("uses the manifest if it is current, sorted over the whole collection", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const query = {
        collection: "products",
        projected: true,
        limit: 3,
        sort: { path: "price", descending: true }
      }
      const top = (yield* post("/api/query", query)).body
      assert.strictEqual(top.source, "manifest")
      assert.strictEqual(top.total, 200)
      assert.deepStrictEqual(
        top.documents.map(({ _id }: { _id: string }) => _id),
        [200, 199, 198].map(productId)
      )
      const next = (yield* post("/api/query", { ...query, cursor: top.cursor })).body
      assert.deepStrictEqual(
        next.documents.map(({ _id }: { _id: string }) => _id),
        [197, 196, 195].map(productId)
      )
      const beyond = (yield* post("/api/query", {
        ...query,
        filters: [{ path: "tags", operator: "exists" }]
      })).body
      assert.strictEqual(beyond.source, "scan")
    })
  )

  it.effect("lists the history, shows versions and restores one in a new commit", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const { store } = yield* ConsoleService
      const id = productId(3)
      yield* store.collection("products").update(id, { price: 1 })
      yield* store.collection("products").update(id, { price: 2 })
      const { entries } = (yield* post("/api/history", { collection: "products", id })).body
      assert.strictEqual(entries.length, 3)
      const [, middle, first] = entries
      const old = (yield* post("/api/document", { collection: "products", id, at: first.sha })).body.document
      assert.strictEqual(old._rev, 1)

      const stale = yield* post("/api/restore", {
        collection: "products",
        id,
        commit: middle.sha,
        expectedRev: 1
      })
      assert.strictEqual(stale.status, 409)
      const before = yield* store.commitSha
      const restored = yield* post("/api/restore", {
        collection: "products",
        id,
        commit: middle.sha,
        expectedRev: 3
      })
      assert.strictEqual(restored.status, 200, restored.text)
      assert.strictEqual(restored.body.document.price, 1)
      assert.strictEqual(restored.body.document._rev, 4)
      assert.notDeepEqual(yield* store.commitSha, before)
      assert.strictEqual((yield* post("/api/history", { collection: "products", id })).body.entries.length, 4)

      const then = (yield* post("/api/query", { collection: "products", at: first.sha, limit: 500 })).body
      assert.strictEqual(then.documents.find(({ _id }: { _id: string }) => _id === id)._rev, 1)
      const back = yield* post("/api/document", { collection: "products", id, at: "main~1" })
      assert.deepStrictEqual([back.status, back.body.document?._rev], [200, 3], "a revision of Git's")
      const all = (yield* post("/api/history", { collection: "products", limit: 2 })).body.entries
      assert.strictEqual(all.length, 2)
      const missing = (yield* post("/api/document", { collection: "products", id: "none" })).body
      assert.deepStrictEqual(missing, { document: null })
    })
  )

  it.effect("refuses what breaks a rule, by name", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const wrong: ReadonlyArray<readonly [string, unknown, number]> = [
        ["/api/query", { collection: "products", limit: 0 }, 422],
        ["/api/query", { collection: "products", limit: 501 }, 422],
        ["/api/query", { collection: "products", limit: "5" }, 400],
        ["/api/query", { collection: "../secrets" }, 422],
        ["/api/query", { collection: "_index" }, 422],
        ["/api/query", { collection: "products", field: "price" }, 422],
        ["/api/query", { collection: "products", filters: [{ path: "a", operator: "like" }] }, 400],
        ["/api/query", { collection: "products", at: "no-such-ref" }, 404],
        ["/api/document", { collection: "products", id: "../x" }, 422],
        ["/api/history", { collection: "products", id: "a/b" }, 422],
        ["/api/restore", { collection: "products", id: productId(1), commit: "none", expectedRev: 1 }, 404]
      ]
      for (const [path, body, status] of wrong) {
        const answer = yield* post(path, body)
        assert.strictEqual(answer.status, status, `${path} ${JSON.stringify(body)} ${answer.text}`)
        assert.deepStrictEqual(Object.keys(answer.body).sort(), ["error", "message"])
      }
      assert.strictEqual((yield* post("/api/query", "x".repeat(70_000))).status, 413)
      const edits = (length: number) => ({
        edits: [
          { collection: "notes", id: "long", base: null, text: JSON.stringify({ text: "x".repeat(length) }) }
        ]
      })
      assert.strictEqual((yield* post("/api/review", edits(200_000))).status, 200)
      assert.strictEqual((yield* post("/api/review", edits(300_000))).status, 413)
    })
  )

  it.effect("edits that cost more than they look are refused, with what to do", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const edit = { collection: "notes", id: "one", base: null, text: "{}" }
      const many = yield* post("/api/review", { edits: Array.from({ length: 501 }, () => edit) })
      assert.deepInclude(many, { status: 400 })
      assert.match(many.body.message, /at most 500 edits/)
      const settled = { against: "a", theirs: [{}] }
      const undecided = yield* post("/api/review", { edits: [{ ...edit, settled }] })
      assert.deepInclude(undecided, { status: 400 })
      assert.match(undecided.body.message, /theirs, a list of paths/)
      // Each member is indented by 1,600 spaces, so that 12 kB of JSON become 8 MB of text.
      const deep = `${'{"a":'.repeat(800)}[${Array(5000).fill("0").join(",")}]${"}".repeat(800)}`
      const review = yield* post("/api/review", { edits: [{ ...edit, text: deep }] })
      assert.deepInclude(review.body.edits[0], { state: "invalid" })
      assert.match(review.body.edits[0].problem, /its file would have 9 MiB.*nest it less/)
    })
  )

  it.effect("returns rate limits; the embedded host has none", () =>
    Effect.gen(function* () {
      const { get } = yield* signedIn
      assert.deepStrictEqual((yield* get("/api/rate")).body, { budgets: [] })
    })
  )

  it.effect("edits are reviewed, and published as one commit or not at all", () =>
    Effect.gen(function* () {
      const { post } = yield* signedIn
      const found = yield* post("/api/editable", { collection: "articles", ids: ["a-1", "none"] })
      const [document, none] = found.body.documents
      assert.isNull(none)
      assert.deepStrictEqual(Object.keys(JSON.parse(document.text)).sort(), ["body", "draft", "title"])
      const { commit, sha } = document
      const edits = [
        { collection: "articles", id: "a-1", base: { commit, sha }, text: '{"title": "Edited"}' },
        { collection: "articles", id: "new", base: null, text: '{"title": null}' }
      ]
      const review = (yield* post("/api/review", { edits })).body
      assert.deepStrictEqual(
        review.edits.map(({ state }: { readonly state: string }) => state),
        ["change", "create"]
      )
      assert.deepInclude(review.files, { path: "data/articles/new.json", removed: false })
      const published = (yield* post("/api/publish", { edits, message: "by the console" })).body
      assert.match(published.commit, /^[0-9a-f]{40}$/)
      assert.isNull((yield* post("/api/publish", { edits, message: "again" })).body.commit)
      const [last] = (yield* post("/api/history", { collection: "articles" })).body.entries
      assert.strictEqual(last.sha, published.commit)
      assert.match(last.message, /^by the console\n\nChainstore-Edits: /)
      const { store } = yield* ConsoleService
      const schema = { type: "object", properties: { title: { type: "string" }, body: {} } }
      assert.deepStrictEqual((yield* post("/api/schema", { collection: "articles" })).body, { schema: null })
      yield* store.collection("articles").writeJsonSchema({ schema })
      const stored = yield* post("/api/schema", { collection: "articles" })
      assert.strictEqual(JSON.stringify(stored.body), JSON.stringify({ schema }))
      assert.strictEqual((yield* post("/api/schema", { collection: "../articles" })).status, 422)
      const many = Array.from({ length: 51 }, () => "a-1")
      assert.strictEqual((yield* post("/api/editable", { collection: "articles", ids: many })).status, 400)
      for (const [path, body] of [
        ["/api/publish", { edits }],
        ["/api/publish", { edits: [{ ...edits[0], text: 5 }], message: "m" }],
        ["/api/review", {}],
        ["/api/schema", {}]
      ] as const) {
        assert.strictEqual((yield* post(path, body)).status, 400, path)
      }
      const twice = yield* post("/api/publish", { edits: [edits[0], edits[0]], message: "m" })
      assert.deepInclude(twice.body, { error: "ValidationError", message: "one edit for each document" })
    })
  )

  it.effect("creates an index on a branch, and refuses one that cannot be", () =>
    Effect.gen(function* () {
      const { store, token, tokens, url } = yield* ConsoleService
      yield* store.createBranch("indexed")
      const { cookie } = yield* signIn({ ...shop, token, branch: "indexed" })
      const create = (body: unknown, as: string | undefined) =>
        ask(url, "POST", "/api/create-index", { body, cookie: as })
      const index = { collection: "articles", field: "title", unique: true }
      const created = yield* create(index, cookie)
      assert.deepStrictEqual(created.body, { commit: Option.getOrNull(yield* store.resolveRef("indexed")) })
      assert.deepStrictEqual((yield* create(index, cookie)).body, { commit: null })
      // A name of an index is not as free as that of a field.
      const spaced = yield* create({ ...index, field: "full  name!", unique: false }, cookie)
      assert.match(spaced.body.commit, /^[0-9a-f]{40}$/)
      const reading = Redacted.value(
        yield* tokens.issue("reader", [{ repository: "test/shop", access: "read" }])
      )
      const reader = yield* signIn({ ...shop, token: reading, branch: "indexed" })
      for (const [status, body, as, word] of [
        [409, { ...index, field: "draft" }, cookie, "draft"],
        [422, { ...index, collection: "products", field: "size.width" }, cookie, "format 2"],
        [422, { ...index, collection: "../articles" }, cookie, "collection"],
        [422, { ...index, field: "" }, cookie, "field"],
        [400, { ...index, unique: "yes" }, cookie, "unique"],
        [400, {}, cookie, "collection"],
        [403, { ...index, field: "body" }, reader.cookie, "read"],
        [401, index, undefined, "signed in"]
      ] as const) {
        const refused = yield* create(body, as)
        assert.strictEqual(refused.status, status, refused.text)
        assert.include(refused.body.message, word)
      }
      yield* tokens.revoke("reader")
    })
  )

  it.effect("lists the data roots of a branch, and switches to one of them", () =>
    Effect.gen(function* () {
      const { store, token, url } = yield* ConsoleService
      yield* store.createBranch("rooted")
      const { cookie } = yield* signIn({ ...shop, token, root: "nothing", branch: "rooted" })
      const post = (path: string, body: unknown) => ask(url, "POST", path, { body, cookie })
      assert.deepStrictEqual((yield* ask(url, "GET", "/api/roots", { cookie })).body, { roots: ["data"] })
      const place = ({ branch, collections, root }: Record<string, unknown>) => ({
        branch,
        collections,
        root
      })
      const collections = ["articles", "hostile", "products"]
      assert.deepStrictEqual(place((yield* post("/api/switch", { root: "data" })).body), {
        branch: "rooted",
        collections,
        root: "data"
      })
      assert.deepStrictEqual(place((yield* post("/api/switch", { branch: "main" })).body), {
        branch: "main",
        collections,
        root: "data"
      })
      assert.deepStrictEqual(
        place((yield* post("/api/switch", { branch: "rooted", root: "nothing" })).body),
        {
          branch: "rooted",
          collections: [],
          root: "nothing"
        }
      )
      for (const [status, body] of [
        [422, { root: "../etc" }],
        [404, { branch: "none", root: "data" }],
        [400, { root: 5 }]
      ] as const) {
        assert.strictEqual((yield* post("/api/switch", body)).status, status, JSON.stringify(body))
      }
      const after = yield* ask(url, "GET", "/api/collections", { cookie })
      assert.strictEqual(after.body.root, "nothing")
    })
  )
})
