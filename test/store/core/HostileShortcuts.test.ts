import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { foundIds } from "./ForeignCommit.js"
import { directory } from "./Remotes.js"

const indexed: StoreOptions = { format: 2, indexes: { people: ["city"] } }

/** A repository of two documents with an index, and what removes the object of a file from it. */
const prepare = Effect.gen(function* () {
  const root = yield* directory
  const bare = path.join(root, "local/store.git")
  const open = Effect.flatMap(LocalGit.scoped({ directory: root }), (remote) =>
    Effect.provideService(Store.make(indexed), GitRemote, remote)
  )
  const lose = (file: string) => {
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", ["-C", bare, ...args])
    const oid = String(git("rev-parse", `main:${file}`)).trim()
    const packs = path.join(bare, "objects/pack")
    const contents = fs
      .readdirSync(packs)
      .filter((name) => name.endsWith(".pack"))
      .map((name) => fs.readFileSync(path.join(packs, name)))
    fs.rmSync(packs, { recursive: true })
    fs.mkdirSync(packs)
    for (const input of contents) execFileSync("git", ["-C", bare, "unpack-objects", "-q"], { input })
    fs.rmSync(path.join(bare, "objects", oid.slice(0, 2), oid.slice(2)))
  }
  const fill = (store: StoreService) =>
    Effect.forEach(["a", "b"], (id) => store.collection("people").insert({ city: "Rome" }, { id }))
  return { open, lose, fill }
})

/** What the doctor names that is wrong. */
const problems = (store: StoreService) =>
  Effect.map(store.doctor, (found) =>
    found.flatMap(({ code, severity }) => (severity === "ok" ? [] : [code]))
  )

describe("a repository on this machine", () => {
  // docs/store.md: `doctor` names wrong indexes, and "reads every file of an index".
  it.scopedLive("with an index without a leaf is not reported as sound by the doctor", () =>
    Effect.gen(function* () {
      const { fill, lose, open } = yield* prepare
      yield* Effect.scoped(Effect.flatMap(open, fill))
      lose("data/_index/people/city/rows/0.json")
      const store = yield* open
      assert.isTrue(Exit.isFailure(yield* Effect.exit(foundIds(store, "Rome"))))
      assert.deepStrictEqual(yield* problems(store), ["index-unreadable"])
    })
  )

  // docs/store.md: the same sentence. A process that has the header in its cache calls sound what no other one can read.
  it.scopedLive(
    "with an index without a header is not reported as sound by a doctor that has read it before",
    () =>
      Effect.gen(function* () {
        const { fill, lose, open } = yield* prepare
        const store = yield* open
        yield* fill(store)
        lose("data/_index/people/city/_header.json")
        const other = yield* Effect.exit(Effect.scoped(Effect.flatMap(open, (one) => foundIds(one, "Rome"))))
        assert.isTrue(Exit.isFailure(other))
        assert.deepStrictEqual(yield* problems(store), ["index-unreadable"])
      })
  )
})
