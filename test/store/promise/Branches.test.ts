import { assert, describe, it } from "@effect/vitest"
import { Layer } from "effect"
import { ConflictError } from "../../../src/domain/errors/StoreError.js"
import { AsyncStore } from "../../../src/store/promise/AsyncStore.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"

describe("branches as promises", () => {
  it("are compared with contents on demand, and merged by an async decision", async () => {
    await using store = await AsyncStore.fromLayer(Layer.provide(Store.layer(), Memory.layer()))
    const notes = store.collection("notes")
    await notes.insert({ n: 1 }, { id: "a" })
    const begun = await store.createBranch("draft")
    assert.deepStrictEqual(await store.branches(), [
      { name: "draft", commitSha: begun },
      { name: "main", commitSha: begun }
    ])
    await using draft = await store.onBranch("draft")
    await draft.collection("notes").update("a", { n: 2 })
    await draft.collection("notes").insert({ n: 5 }, { id: "b" })
    await notes.update("a", { n: 3 })
    const shown: Array<unknown> = []
    for await (const { after, before, id, kind } of store.compare("main", "draft")) {
      shown.push([id, kind, (await before())?.["n"] ?? null, (await after())?.["n"]])
    }
    assert.deepStrictEqual(shown, [
      ["a", "changed", 1, 2],
      ["b", "added", null, 5]
    ])
    const refused = await store.merge("draft").then(
      () => assert.fail("it did not reject"),
      (error: unknown) => error
    )
    assert.isTrue(refused instanceof ConflictError && refused.unmerged?.length === 1)
    const dry = await store.merge("draft", { dryRun: true })
    assert.deepStrictEqual([dry.kind, dry.commitSha, dry.conflicts.length], ["merge", null, 1])
    const thrown = new Error("no decision")
    const failed = await store
      .merge("draft", { onConflict: () => Promise.reject(thrown) })
      .catch((error: unknown) => error)
    assert.strictEqual(failed, thrown)
    const merged = await store.merge("draft", { onConflict: async () => ({ n: 4 }) })
    assert.strictEqual(merged.commitSha, await store.commitSha())
    assert.strictEqual((await notes.get("a"))?.["n"], 4)
    await store.deleteBranch("draft")
    assert.lengthOf(await store.branches(), 1)
  })

  it("are proposed, looked at, changed and accepted", async () => {
    await using store = await AsyncStore.fromLayer(Layer.provide(Store.layer(), Memory.layer()))
    const notes = store.collection("notes")
    await notes.insert({ n: 1 }, { id: "a" })
    const { proposal, result } = await store.propose(
      async (draft) => {
        await draft.collection("notes").update("a", { n: 2 })
        await draft.batch((batch) => batch.put("notes", "b", { n: 3 }))
        return draft.branch
      },
      { title: "Two notes" }
    )
    assert.strictEqual(result, proposal.branch)
    assert.deepStrictEqual(await store.proposals(), [proposal])
    const handle = store.proposal(proposal.id)
    const shown: Array<unknown> = []
    for await (const { after: now, id } of handle.compare()) shown.push([id, (await now())?.["n"]])
    assert.deepStrictEqual(shown, [
      ["a", 2],
      ["b", 3]
    ])
    const thrown = new Error("no edits")
    assert.strictEqual(
      await handle.update(() => Promise.reject(thrown)).catch((error: unknown) => error),
      thrown
    )
    await handle.update((draft) => draft.collection("notes").insert({ n: 4 }, { id: "c" }))
    await notes.update("a", { n: 7 })
    assert.lengthOf((await handle.preview()).conflicts, 1)
    const merged = await handle.accept({ onConflict: async () => "theirs" as const })
    assert.strictEqual(merged.commitSha, await store.commitSha())
    assert.deepStrictEqual(await notes.list(), ["a", "b", "c"])
    assert.strictEqual((await handle.get()).state, "accepted")
    const left = await store
      .propose(() => Promise.reject(thrown), { title: "x" })
      .catch((error: unknown) => error)
    assert.strictEqual(left, thrown)
    assert.lengthOf(await store.branches(), 2)
  })
})
