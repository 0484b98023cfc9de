import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Browse } from "../../../src/store/browse/index.js"
import { type World, world } from "./Support.js"

const put = ({ remote }: World, branch: string, path: string, text: string) =>
  Effect.flatMap(remote.head(branch), (head) =>
    remote.commit(branch, head, {
      message: "by hand",
      changes: [{ _tag: "Put", path, content: new TextEncoder().encode(text) }]
    })
  )

describe("a decision of a conflict", () => {
  // Timeline.ts, BranchConflict.digest: "Stands for both versions: a decision counts for these alone."
  it.live("counts for no other version, also where only digits differ that JavaScript cannot hold", () =>
    Effect.gen(function* () {
      const it = yield* world()
      const path = "data/notes/x.json"
      const text = (n: string) => `{"_id": "x", "_rev": 1, "n": ${n}}`
      yield* put(it, "main", path, text("1"))
      yield* it.store.createBranch("draft")
      yield* put(it, "main", path, text("2"))
      yield* put(it, "draft", path, text("12345678901234567891"))
      const timeline = yield* Browse.make({ store: it.store, remote: it.remote, readOnly: false }).timeline
      const { choices, digest } = (yield* timeline.previewMerge("draft", [])).conflicts[0]!
      yield* put(it, "draft", path, text("12345678901234567899"))
      const take = choices.map(() => "theirs" as const)
      const { conflicts } = yield* timeline.previewMerge("draft", [{ path, digest, take }])
      assert.lengthOf(conflicts, 1)
    })
  )
})
