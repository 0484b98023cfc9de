import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandLine } from "./CommandLine.js"

describe("branches on the command line", () => {
  it.scopedLive("are made, compared, merged and deleted", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const repo = ["--repo", "local/tea"]
      const ok = (...line: ReadonlyArray<string>) =>
        Effect.map(call([...line, ...repo], { terminal: true }), (ran) => {
          assert.strictEqual(ran.code, 0, ran.err)
          return ran.out.trim()
        })
      const put = (id: string, document: string, ...line: ReadonlyArray<string>) =>
        Effect.map(call(["put", "products", id, "-", ...line, ...repo], { input: document }), (ran) =>
          assert.strictEqual(ran.code, 0, ran.err)
        )
      yield* put("tea", '{"price": 1, "name": "Tea"}')
      assert.match(yield* ok("branch", "draft"), /^draft begins at [0-9a-f]{7}\.$/)
      yield* put("tea", '{"price": 2, "name": "Tea"}', "--branch", "draft")
      yield* put("milk", "{}", "--branch", "draft")
      yield* put("tea", '{"price": 1, "name": "Green tea"}')
      assert.match(yield* ok("branch"), /branch +commit\ndraft +[0-9a-f]{7}\nmain +[0-9a-f]{7}/)
      const compared = yield* ok("compare", "main", "draft")
      assert.match(compared, /^added products\/milk\nchanged products\/tea\n/)
      assert.match(compared, /price/)
      assert.notMatch(compared, /Green/)
      assert.match(yield* ok("compare", "main", "draft", "--against", "first"), /Green/)
      const dry = yield* ok("merge", "draft", "--dry-run")
      assert.match(dry, /^draft would be merged: 2 documents and 0 other files changed\./)
      assert.match(
        yield* ok("merge", "draft", "-m", "take it"),
        /^draft is merged in [0-9a-f]{7}: 2 documents/
      )
      const tea = yield* call(["get", "products", "tea", ...repo])
      assert.deepInclude(tea.json(), { price: 2, name: "Green tea" })
      assert.strictEqual(yield* ok("merge", "draft"), "draft is merged already.")
      yield* put("tea", '{"price": 5, "name": "Green tea"}')
      yield* put("tea", '{"price": 6, "name": "Tea"}', "--branch", "draft")
      const shown = yield* call(["merge", "draft", "--dry-run", ...repo], { terminal: true })
      assert.strictEqual(shown.code, 4)
      assert.match(shown.out, /conflict: products\/tea was changed on both branches at price/)
      const refused = yield* call(["merge", "draft", ...repo])
      assert.strictEqual(refused.code, 4)
      assert.match(refused.err, /ConflictError: .*products\/tea/)
      assert.match(yield* ok("merge", "draft", "--on-conflict", "theirs"), /decided: products\/tea/)
      assert.deepInclude((yield* call(["get", "products", "tea", ...repo])).json(), { price: 6 })
      assert.strictEqual(yield* ok("branch", "draft", "--delete"), "draft is deleted.")
      assert.strictEqual((yield* call(["branch", "--delete", ...repo])).code, 2)
      assert.strictEqual((yield* call(["merge", "nowhere", ...repo])).code, 3)
    })
  )

  it.scopedLive("are proposed, shown, accepted and closed", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const repo = ["--repo", "local/tea"]
      const run = (...line: ReadonlyArray<string>) => call([...line, ...repo], { terminal: true })
      const ok = (...line: ReadonlyArray<string>) =>
        Effect.map(run(...line), (ran) => {
          assert.strictEqual(ran.code, 0, ran.err)
          return ran.out.trim()
        })
      yield* ok("put", "products", "tea", "--data", '{"price": 1}')
      const made = yield* ok(
        ...["propose", "products", "tea", "--data", '{"price": 2}', "--title", "Dearer tea", "--body", "Why."]
      )
      const [, id = ""] = /^(\w+) open: Dearer tea, for main$/.exec(made) ?? []
      assert.notStrictEqual(id, "", made)
      yield* ok("propose", "products", "milk", "--data", "{}", "--to", id)
      assert.match(yield* ok("proposals"), new RegExp(`${id} +open +main +Dearer tea`))
      const shown = yield* ok("proposals", id)
      assert.match(shown, /Why\.\n\nadded products\/milk\nchanged products\/tea\n/)
      assert.match(yield* ok("proposals", id, "--accept", "--dry-run"), /would be merged: 2 documents/)
      yield* ok("put", "products", "tea", "--data", '{"price": 3}')
      assert.strictEqual((yield* run("proposals", id, "--accept")).code, 4)
      assert.match(
        yield* ok("proposals", id, "--accept", "--on-conflict", "theirs"),
        /is merged in [0-9a-f]{7}: 2 documents/
      )
      assert.deepInclude((yield* call(["get", "products", "tea", ...repo])).json(), { price: 2 })
      assert.strictEqual(yield* ok("proposals"), "There are no such proposals.")
      assert.strictEqual((yield* run("proposals", id, "--close")).code, 4)
      const other = /^\w+/.exec(yield* ok("propose", "products", "tea", "--delete", "--title", "No tea"))![0]
      assert.match(yield* ok("proposals", other, "--close"), /closed: No tea/)
      assert.match(yield* ok("proposals", "--state", "all"), /accepted[^\n]*Dearer tea\n.*closed[^\n]*No tea/)
      assert.strictEqual((yield* run("propose", "products", "tea", "--delete")).code, 2)
      assert.strictEqual((yield* run("proposals", "--accept")).code, 2)
      assert.strictEqual((yield* run("proposals", "nowhere")).code, 3)
    })
  )
})
