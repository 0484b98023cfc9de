import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import type { DoctorProgress, Finding } from "../../../src/store/Doctor.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { hosted, remotes } from "./Remotes.js"

const indexPath = "data/_index/rows/n.json"
const manifestPath = "data/_manifest/rows.json"

const change = (remote: GitRemoteService, path: string, edit: (text: string) => string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const file = yield* remote.file(head, path)
    const text = edit(Option.isNone(file) ? "" : new TextDecoder().decode(file.value.content))
    yield* remote.commit("main", Option.some(head), {
      message: "by hand",
      changes: [{ _tag: "Put", path, content: new TextEncoder().encode(text) }]
    })
  })

const rows = Effect.gen(function* () {
  const store = yield* Store.make({ indexes: { rows: ["n"] }, manifests: { rows: ["n", "t"] } })
  yield* store.batch({}, (batch) =>
    Effect.forEach([1, 2, 3], (n) => batch.insert("rows", { n, t: "text" }, { id: `r${n}` }))
  )
  return store
})

const codesOf = (findings: ReadonlyArray<Finding>) =>
  findings.filter(({ collection }) => collection === "rows").map(({ code }) => code)

describe.each([...remotes, ...hosted])("doctor on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)))

  test(
    "vouches for what it has read, and says what it has not read",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* rows
      const free = remote.estimate({ _tag: "Read", documents: 1 }) === 0
      const summary = (findings: ReadonlyArray<Finding>) =>
        findings.find(({ code, collection }) => collection === "rows" && code === "collection")!
      const shallow = summary(yield* store.doctorWith({ deep: false }))
      assert.match(shallow.message, /3 documents.*not read/)
      assert.notInclude(shallow.message, "everything agrees")
      assert.match(shallow.hint ?? "", /--deep/)
      const deep = summary(yield* store.doctorWith({ deep: true }))
      assert.match(deep.message, /3 documents read.*everything agrees/)
      assert.strictEqual(summary(yield* store.doctor).message, (free ? deep : shallow).message)
      const wrong = yield* Effect.flip(store.doctorWith({ deep: "yes" as never }))
      assert.strictEqual(wrong._tag, "ValidationError")
    })
  )

  for (const [what, path, edit, code] of [
    ["a value of an index", indexPath, (text: string) => text.replaceAll('"2"', '"7"'), "index-wrong"],
    ["a value of a manifest", manifestPath, (text: string) => text.replace("text", "more"), "manifest-wrong"],
    [
      "a manifest's count",
      manifestPath,
      (text: string) => text.replace(/"count": 3/, '"count": 4'),
      "manifest-wrong"
    ]
  ] as const) {
    test(
      `finds ${what} that was changed by hand`,
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const store = yield* rows
        yield* change(remote, path, edit)
        assert.include(codesOf(yield* store.doctorWith({ deep: true })), code)
        yield* store.collection("rows").reindex()
        assert.deepStrictEqual(codesOf(yield* store.doctorWith({ deep: true })), ["collection"])
      })
    )
  }

  test(
    "finds problems in a listing without reading a document",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* rows
      yield* change(remote, manifestPath, (text) => text.replace('"r2",', '"gone",'))
      yield* change(remote, indexPath, (text) => text.replaceAll('"r2"', '"gone"'))
      const found = codesOf(yield* store.doctorWith({ deep: false }))
      assert.includeMembers(found, ["index-wrong", "manifest-wrong"])
    })
  )

  test(
    "reads documents of every size",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* rows
      yield* change(remote, "data/rows/large.json", () =>
        JSON.stringify({ _id: "large", t: "x".repeat(1.2e6) })
      )
      yield* change(remote, "data/rows/torn.json", () => `{"_id": "torn", "t": "${"x".repeat(1.2e6)}`)
      const findings = yield* store.doctorWith({ deep: true })
      const ids = (code: string) => findings.find((finding) => finding.code === code)?.ids
      assert.deepStrictEqual(ids("unreadable"), ["torn"])
      assert.deepStrictEqual(ids("document-large"), ["large", "torn"])
    })
  )

  test(
    "reports its progress, and can be interrupted",
    Effect.gen(function* () {
      const store = yield* rows
      const told: Array<DoctorProgress> = []
      yield* store.doctorWith({ deep: true, onProgress: (state) => Effect.sync(() => void told.push(state)) })
      assert.deepStrictEqual(told[0], { collection: "rows", documents: 0, total: 3 })
      assert.deepStrictEqual(told.at(-1), { collection: "rows", documents: 3, total: 3 })
      const begun = yield* Deferred.make<void>()
      const onProgress = () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
      const fiber = yield* Effect.fork(store.doctorWith({ deep: true, onProgress }))
      yield* Deferred.await(begun)
      assert.isTrue((yield* Fiber.interrupt(fiber))._tag === "Failure")
    })
  )
})
