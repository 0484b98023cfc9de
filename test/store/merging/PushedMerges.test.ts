import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type FileMode, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { pushed } from "../core/Remotes.js"

const open = (remote: GitRemoteService) => Effect.provideService(Store.make(), GitRemote, remote)

describe.each(pushed)("a merge of branches on %s", (_name, repository) => {
  it.scopedLive(
    "pushes modes, links and submodules that another client has made",
    () =>
      Effect.gen(function* () {
        const client = yield* repository
        const theirs = yield* client
        const [store, other] = [yield* open(yield* client), yield* open(theirs)]
        yield* store.collection("notes").insert({ n: 1 }, { id: "x" })
        yield* store.createBranch("draft")
        const head = Option.getOrThrow(yield* theirs.head("draft"))
        const file = Option.getOrThrow(yield* theirs.file(head, "data/notes/x.json"))
        const linked = (path: string, mode: FileMode, oid = file.oid) => ({
          _tag: "Link" as const,
          path,
          oid,
          mode
        })
        yield* theirs.commit("draft", Option.some(head), {
          message: "modes",
          changes: [
            linked("run", "100755"),
            linked("link", "120000"),
            linked("data/notes/x.json", "100755"),
            // Of another repository: no fetch can bring it.
            linked("sub", "160000", "5".repeat(40) as never)
          ]
        })
        yield* store.collection("notes").insert({ n: 2 }, { id: "y" })
        const merged = yield* store.merge("draft")
        assert.deepStrictEqual([merged.kind, merged.documents], ["merge", []])
        const now = Option.getOrThrow(yield* theirs.head("main"))
        const { entries } = Option.getOrThrow(yield* theirs.tree(now, "", { recursive: true }))
        assert.deepStrictEqual(Object.fromEntries(entries.map(({ mode, path }) => [path, mode])), {
          "data/notes/x.json": "100755",
          "data/notes/y.json": "100644",
          link: "120000",
          run: "100755",
          sub: "160000"
        })
        assert.deepStrictEqual(yield* other.collection("notes").list(), ["x", "y"])
      }),
    60_000
  )

  it.scopedLive(
    "loses no concurrent write to both branches while a conflict is decided",
    () =>
      Effect.gen(function* () {
        const client = yield* repository
        const [store, other] = [yield* open(yield* client), yield* open(yield* client)]
        const notes = store.collection("notes")
        yield* notes.insert({ n: 1 }, { id: "x" })
        yield* store.createBranch("draft")
        yield* store.onBranch("draft").collection("notes").update("x", { n: 2 })
        yield* notes.update("x", { n: 3 })
        const meanwhile = Effect.orDie(
          Effect.all([
            other.collection("notes").insert({ n: 5 }, { id: "on-main" }),
            other.onBranch("draft").collection("notes").insert({ n: 6 }, { id: "on-draft" })
          ])
        )
        const before = yield* store.resolveRef("draft")
        let asked = 0
        const { commitSha } = yield* store.merge("draft", {
          onConflict: () => Effect.as(asked++ === 0 ? meanwhile : Effect.void, "theirs" as const)
        })
        const fresh = yield* open(yield* client)
        const documents = fresh.collection("notes")
        assert.strictEqual(Option.getOrThrow(yield* documents.get("x"))["n"], 2)
        // What was merged is the commit that the branch was at when the merge began.
        assert.deepStrictEqual(yield* documents.list(), ["on-main", "x"])
        const remote = yield* client
        const { parents } = Option.getOrThrow(yield* remote.commitInfo(Option.getOrThrow(commitSha) as never))
        assert.strictEqual(parents[1], Option.getOrThrow(before))
        assert.strictEqual((yield* fresh.merge("draft")).kind, "merge")
        assert.deepStrictEqual(yield* documents.list(), ["on-draft", "on-main", "x"])
      }),
    60_000
  )
})
