import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { ConsoleService } from "../../support/browser/ConsoleService.js"
import { productId } from "../../support/browser/Seed.js"
import { ask, seeded, signedIn } from "./Client.js"

layer(seeded, { timeout: 60_000 })("history and branches in the console's API", (it) => {
  it.effect("counts newer commits, lists what each changed, and reverts one", () =>
    Effect.gen(function* () {
      const { store } = yield* ConsoleService
      const { post } = yield* signedIn
      const shown = (yield* post("/api/newer", {})).body
      assert.strictEqual(shown.count, 0)
      const products = store.collection("products")
      yield* products.update(productId(5), { price: 1 }, { message: "lower another price" })
      const head = (yield* products.history(productId(5), { limit: 1 }))[0]!.sha
      assert.deepStrictEqual((yield* post("/api/newer", { since: shown.head })).body, { head, count: 1 })
      const { entries } = (yield* post("/api/commits", { limit: 3 })).body
      assert.deepStrictEqual(
        entries.map(({ message }: { message: string }) => message),
        ["lower another price", "raise it again", "lower a price"]
      )
      const changed = (yield* post("/api/changes", { commit: head })).body
      assert.strictEqual(changed.total, 1)
      assert.strictEqual(changed.documents[0].after.price, 1)
      const first = (yield* post("/api/commits", { limit: 500 })).body.entries.at(-1).sha
      assert.isAtLeast((yield* post("/api/changes", { commit: first })).body.total, 1)

      const preview = (yield* post("/api/revert-preview", { commit: head })).body
      assert.deepStrictEqual([preview.total, preview.problem], [1, null])
      assert.strictEqual(preview.documents[0].after.price, changed.documents[0].before.price)
      assert.isAtLeast(preview.derived, 1)
      const reverted = yield* post("/api/revert", { commit: head })
      assert.strictEqual(reverted.status, 200, reverted.text)
      const again = (yield* post("/api/changes", { commit: reverted.body.commit })).body
      assert.deepStrictEqual(again.documents[0].after, {
        ...preview.documents[0].after,
        _updated_at: again.documents[0].after._updated_at
      })
      const blocked = (yield* post("/api/revert-preview", { commit: head })).body
      assert.match(blocked.problem, /is version .*, expected/)
      assert.strictEqual((yield* post("/api/revert", { commit: head })).status, 409)
    })
  )

  it.effect("makes, compares and merges branches; a decision counts for what was shown alone", () =>
    Effect.gen(function* () {
      const { store } = yield* ConsoleService
      const { get, post } = yield* signedIn
      assert.strictEqual((yield* post("/api/branch", { name: "draft", from: "main" })).status, 200)
      assert.strictEqual((yield* post("/api/branch", { name: "draft", from: "main" })).status, 409)
      assert.include(
        (yield* get("/api/branches")).body.branches.map(({ name }: { name: string }) => name),
        "draft"
      )
      const ours = store.collection("articles")
      const theirs = store.onBranch("draft").collection("articles")
      yield* ours.update("a-1", { title: "ours", draft: true })
      yield* theirs.update("a-1", { title: "theirs", body: "short" })
      yield* theirs.insert({ title: "new" }, { id: "a-new" })
      const compared = (yield* post("/api/compare", { branch: "draft" })).body
      assert.deepStrictEqual(
        compared.documents.map(({ id, kind }: { id: string; kind: string }) => [id, kind]),
        [
          ["a-1", "changed"],
          ["a-new", "added"]
        ]
      )
      const asked = { branch: "draft", decisions: [] }
      const preview = (yield* post("/api/merge-preview", asked)).body
      assert.deepStrictEqual([preview.kind, preview.conflicts.length], ["merge", 1])
      const [conflict] = preview.conflicts
      assert.deepStrictEqual(conflict.choices, [
        { path: ["title"], base: "On brass", ours: "ours", theirs: "theirs", both: "ours\ntheirs" }
      ])
      assert.strictEqual((yield* post("/api/merge", asked)).status, 409)
      const decisions = [{ path: conflict.path, digest: conflict.digest, take: ["theirs"] }]
      yield* ours.update("a-1", { title: "ours, later" })
      assert.strictEqual((yield* post("/api/merge", { branch: "draft", decisions })).status, 409)
      const [later] = (yield* post("/api/merge-preview", { branch: "draft", decisions })).body.conflicts
      const decided = [{ path: later.path, digest: later.digest, take: ["theirs"] }]
      const rest = (yield* post("/api/merge-preview", { branch: "draft", decisions: decided })).body
      assert.deepStrictEqual(rest.conflicts, [])
      const merged = yield* post("/api/merge", { branch: "draft", decisions: decided })
      assert.strictEqual(merged.status, 200, merged.text)
      const result = Option.getOrThrow(yield* ours.get("a-1"))
      assert.deepInclude(result, { title: "theirs", body: "short" })
    })
  )

  it.effect("takes a side, both sides or another value for each field", () =>
    Effect.gen(function* () {
      const { store } = yield* ConsoleService
      const { post } = yield* signedIn
      const ours = store.collection("articles")
      yield* ours.update("a-1", { tags: ["a", "b"], n: 1 })
      yield* post("/api/branch", { name: "both", from: "main" })
      const theirs = store.onBranch("both").collection("articles")
      yield* ours.update("a-1", { title: "mine", tags: ["ours", "shared"], n: 2 })
      yield* theirs.update("a-1", { title: "other", tags: ["shared", "theirs"], n: 3 })
      const preview = (yield* post("/api/merge-preview", { branch: "both", decisions: [] })).body
      const [conflict] = preview.conflicts
      const paths: ReadonlyArray<string> = conflict.choices.map(({ path }: { path: ReadonlyArray<string> }) =>
        path.join(".")
      )
      assert.includeMembers([...paths], ["n", "title"])
      const merge = (take: (path: string) => unknown) =>
        post("/api/merge", {
          branch: "both",
          decisions: [{ path: conflict.path, digest: conflict.digest, take: paths.map(take) }]
        })
      assert.strictEqual((yield* merge(() => "both")).status, 400)
      assert.strictEqual((yield* merge(() => ({}))).status, 400)
      const both = new Map<string, unknown>(
        conflict.choices.map((choice: { path: ReadonlyArray<string>; both?: unknown }) => [
          choice.path.join("."),
          choice.both
        ])
      )
      assert.deepInclude(Object.fromEntries(both), { title: "mine\nother", n: undefined })
      const merged = yield* merge((path) => (path === "n" ? "theirs" : { value: both.get(path) }))
      assert.strictEqual(merged.status, 200, merged.text)
      const result = Option.getOrThrow(yield* ours.get("a-1"))
      assert.deepInclude(result, { title: "mine\nother", n: 3 })
      assert.sameMembers(result["tags"] as Array<string>, ["ours", "shared", "theirs"])
    })
  )

  it.effect("proposes edits, and lists, compares, previews, accepts and closes proposals", () =>
    Effect.gen(function* () {
      const { store } = yield* ConsoleService
      const { post } = yield* signedIn
      const articles = store.collection("articles")
      const propose = (id: string, title: string) =>
        Effect.gen(function* () {
          const found = yield* post("/api/editable", { collection: "articles", ids: [id] })
          const { commit, sha } = found.body.documents[0]
          const edits = [
            { collection: "articles", id, base: { commit, sha }, text: JSON.stringify({ title }) }
          ]
          return yield* post("/api/propose", { edits, title: `say ${title}`, body: "Why." })
        })
      const first = (yield* propose("a-2", "proposed")).body
      assert.deepInclude(first.proposal, { title: "say proposed", body: "Why.", into: "main", state: "open" })
      assert.strictEqual(first.edits[0].state, "change")
      const { commitSha, id } = first.proposal
      const listed = (yield* post("/api/proposals", { state: "open" })).body.proposals
      assert.deepStrictEqual(listed, [first.proposal])
      const compared = (yield* post("/api/proposal-compare", { id })).body
      assert.deepInclude(compared.documents[0], { collection: "articles", id: "a-2", kind: "changed" })
      assert.strictEqual(compared.documents[0].after.title, "proposed")
      yield* articles.update("a-2", { title: "meanwhile" })
      const preview = (yield* post("/api/proposal-preview", { id, decisions: [] })).body
      const [conflict] = preview.conflicts
      assert.deepInclude(conflict.choices[0], { path: ["title"], ours: "meanwhile", theirs: "proposed" })
      assert.strictEqual(preview.commit, commitSha)
      const accept = (more: object) => post("/api/proposal-accept", { id, commit: commitSha, ...more })
      assert.strictEqual((yield* accept({ decisions: [] })).status, 409)
      const decisions = [{ path: conflict.path, digest: conflict.digest, take: ["theirs"] }]
      assert.strictEqual((yield* accept({ decisions, commit: "0".repeat(40) })).status, 409)
      const accepted = yield* accept({ decisions })
      assert.strictEqual(accepted.status, 200, accepted.text)
      assert.strictEqual(Option.getOrThrow(yield* articles.get("a-2"))["title"], "proposed")
      assert.strictEqual((yield* accept({ decisions })).status, 409)

      const second = (yield* propose("a-1", "turned down")).body.proposal
      const closed = (yield* post("/api/proposal-close", { id: second.id })).body
      assert.strictEqual(closed.state, "closed")
      assert.strictEqual((yield* post("/api/proposal-close", { id: second.id })).status, 409)
      assert.strictEqual((yield* post("/api/proposal-close", { id: "none" })).status, 404)
      assert.strictEqual((yield* post("/api/proposals", { state: "lost" })).status, 400)
      const states = yield* Effect.forEach(["open", "accepted", "closed"], (state) =>
        Effect.map(post("/api/proposals", { state }), ({ body }) => body.proposals.length)
      )
      assert.deepStrictEqual(states, [0, 1, 1])
    })
  )

  it.effect("a session that was switched to another branch is refused to a page that shows the first", () =>
    Effect.gen(function* () {
      const { cookie, post } = yield* signedIn
      const { url } = yield* ConsoleService
      const place = (branch: string) => ({
        "x-chainstore-place": encodeURIComponent(JSON.stringify(["test/shop", branch, "data"]))
      })
      yield* post("/api/branch", { name: "other", from: "main" })
      assert.strictEqual((yield* post("/api/switch", { branch: "none" })).status, 404)
      const there = (yield* post("/api/switch", { branch: "other" })).body
      assert.strictEqual(there.branch, "other")
      for (const [branch, status] of [
        ["main", 401],
        ["other", 200]
      ] as const) {
        const answer = yield* ask(url, "GET", "/api/collections", { cookie, headers: place(branch) })
        assert.strictEqual(answer.status, status, branch)
      }
    })
  )
})
