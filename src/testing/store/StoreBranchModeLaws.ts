import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConflictError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import { nameOf } from "./StoreBranchLaws.js"
import { read, shape, wanted } from "./StoreDocumentLaws.js"
import { blobOf, filesAt, pushTo } from "./StoreForeignCommit.js"
import { law, promiseOf } from "./StoreLaw.js"

const branching = promiseOf("branches")
const modes = "modes-links-and-submodules"

/** Scripts, links and submodules are merged beside documents, as Git merges them. */
export const mergedModes = law(
  "mergedModes",
  branching(
    "modes are merged separately from contents; links and submodules are taken from the side that changed them",
    modes,
    "The content and the mode of a file are merged separately, as in Git: if one branch edits a script and the other makes it executable, the merge has both changes."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, people, root, store } = given
      const push = pushTo(given)
      const script = (text: string) => ({ oid: blobOf(text), mode: "100755" }) as const
      const link = (text: string) => ({ oid: blobOf(text), mode: "120000" }) as const
      const submodule = (oid: Oid) => ({ oid, mode: "160000" }) as const
      const texts = { "a.txt": "a", "b.txt": "b", "c.txt": "c", edited: "a", made: "a" }
      const first = yield* push(branch, { ...texts, undone: "a" })
      const second = yield* push(branch, {
        undone: script("a"),
        link: link("a"),
        links: link("a"),
        sub: submodule(first),
        subs: submodule(first)
      })
      yield* store.batch({}, (batch) =>
        Effect.forEach(["deleted", "edited", "mode"], (id) => batch.put("people", id, { a: 1 }))
      )
      const name = nameOf(root, "modes")
      yield* store.createBranch(name)
      const oidOf = (id: string) =>
        Effect.map(people.version(id), (version) => Option.getOrThrow(version).sha as Oid)
      const [deleted, edited, mode] = [yield* oidOf("deleted"), yield* oidOf("edited"), yield* oidOf("mode")]
      const executable = (oid: Oid) => ({ oid, mode: "100755" }) as const
      yield* push(name, {
        edited: script("a"),
        made: "b",
        undone: { oid: blobOf("a"), mode: "100644" },
        link: link("b"),
        links: link("b"),
        sub: submodule(second),
        subs: submodule(second),
        "people/deleted.json": executable(deleted),
        "people/edited.json": executable(edited),
        "people/mode.json": executable(mode)
      })
      yield* push(branch, {
        edited: "b",
        made: script("a"),
        links: link("c"),
        subs: submodule(yield* push(branch, { "a.txt": "aa" }))
      })
      yield* people.delete("deleted")
      yield* people.update("edited", { a: 2 })
      const now = yield* oidOf("edited")
      const shown = yield* Stream.runCollect(store.compare(given.branch, name))
      yield* expectEqual("a mode is no change of a document", Array.from(shown), [])
      const error: ConflictError = yield* expectFailure("a merge", store.merge(name), "ConflictError")
      yield* expectEqual(
        "links and submodules that both changed",
        (error.unmerged ?? []).map(({ kind, path }) => [kind, path]),
        ["links", "subs"].map((path) => ["file", `${root}/${path}`])
      )
      const merged = yield* store.merge(name, { onConflict: "theirs" })
      yield* expectEqual("the documents that it changes", merged.documents, [])
      const paths = [
        "edited",
        "link",
        "links",
        "made",
        "people/edited.json",
        "people/mode.json",
        "sub",
        "subs",
        "undone"
      ]
      yield* expectEqual(
        "the files that it changes",
        [...merged.files].sort(),
        paths.map((path) => `${root}/${path}`)
      )
      const files = yield* filesAt(given, branch)
      for (const [path, expected] of Object.entries({
        edited: `100755 ${blobOf("b")}`,
        made: `100755 ${blobOf("b")}`,
        undone: `100644 ${blobOf("a")}`,
        link: `120000 ${blobOf("b")}`,
        links: `120000 ${blobOf("b")}`,
        sub: `160000 ${second}`,
        subs: `160000 ${second}`,
        "people/deleted.json": null,
        "people/edited.json": `100755 ${now}`,
        "people/mode.json": `100755 ${mode}`
      })) {
        yield* expectEqual(`the mode and the content of ${path}`, files[path] ?? null, expected)
      }
      yield* store.onBranch(name).collection("people").update("edited", { b: 1 })
      yield* store.merge(name)
      yield* expectEqual("a merged document", shape(yield* read(people, "edited")), wanted(3, { a: 2, b: 1 }))
      const after = (yield* filesAt(given, branch))["people/edited.json"]
      yield* expectEqual("a merged document is a regular file", after?.slice(0, 6), "100644")
    }),
  { shardDepth: 0 }
)

/** What took the path of a document, an index or a manifest stays there. */
export const replacedDocuments = law(
  "replacedDocuments",
  branching(
    "nothing is written over a directory or a submodule",
    modes,
    "A write whose document, index or manifest file has the path of a directory or a submodule fails with a `ValidationError`, and a revert lists such a document in `skipped`."
  ),
  (given) =>
    Effect.gen(function* () {
      const { branch, expectEqual, expectFailure, head, people, root, store } = given
      const push = pushTo(given)
      yield* store.batch({}, (batch) =>
        Effect.forEach(["kept", "sub"], (id) => batch.put("people", id, { n: 1 }))
      )
      const oid = (yield* head) as Oid
      const replacing = yield* push(branch, {
        "people/sub.json": { oid, mode: "160000" },
        "people/kept.json": '{"_id":"kept","_rev":2,"n":2}\n'
      })
      yield* push(branch, { "people/dir.json/file.txt": "a" })
      const before = yield* head
      for (const [what, write] of [
        ["insert", people.insert({ n: 3 }, { id: "dir" })],
        ["upsert", people.upsert("dir", { n: 3 })],
        ["batch", store.batch({}, (batch) => batch.put("people", "dir", { n: 3 }))],
        // GitHub's API for one file may replace a submodule that the client has not read.
        ["batch over a submodule", store.batch({}, (batch) => batch.put("people", "sub", { n: 3 }))]
      ] as const) {
        yield* expectFailure(what, write, "ValidationError")
      }
      yield* expectEqual("nothing was written", yield* head, before)
      const reverted = yield* store.revert(replacing)
      yield* expectEqual("what is reverted", reverted.documents, [{ collection: "people", id: "kept" }])
      yield* expectEqual("what is skipped", reverted.skipped, [`${root}/people/sub.json`])
      yield* expectEqual("the other document", shape(yield* read(people, "kept")), wanted(3, { n: 1 }))
      yield* expectEqual("the submodule", (yield* filesAt(given, branch))["people/sub.json"], `160000 ${oid}`)
      for (const [collection, directory] of [
        ["indexed", "_index/indexed/n.json"],
        ["listed", "_manifest/listed.json"]
      ] as const) {
        yield* push(branch, { [`${directory}/file.txt`]: "a" })
        const write = store.collection(collection).insert({ n: 1 })
        yield* expectFailure(`a document of ${collection}`, write, "ValidationError")
      }
    }),
  { shardDepth: 0, format: 1, indexes: { indexed: ["n"] }, manifests: { listed: ["n"] } }
)
