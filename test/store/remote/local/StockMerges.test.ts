import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../../src/store/Store.js"

/** What a path can be in a tree: missing, one of two texts, executable or not, or a link. */
const states = [undefined, "100644 A", "100755 A", "100644 B", "100755 B", "120000 A"]

/** Every path that goes from one state to two others, named by the three. */
const paths = states.flatMap((_, base) =>
  states.flatMap((_, ours) => states.map((_, theirs) => `${base}${ours}${theirs}`))
)

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-merges-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

describe("stock Git", () => {
  it.scopedLive("merges modes and links to the same tree, and finds the same conflicts", () =>
    Effect.gen(function* () {
      const home = yield* directory
      const remote = yield* LocalGit.scoped({ directory: home, repo: "local/data" })
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      yield* store.collection("notes").insert({ n: 1 }, { id: "x" })
      const git = (args: ReadonlyArray<string>, input = "") => {
        const { status, stdout } = spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
          cwd: join(home, "local/data.git"),
          encoding: "utf8",
          input,
          env: { ...process.env, GIT_INDEX_FILE: join(home, "index") }
        })
        return { status, out: stdout.trim() }
      }
      const changes = paths.flatMap((path) =>
        ["A", "B"].map((text) => {
          // Git takes files of like contents for renamed ones.
          const content = createHash("sha512").update(`${path} ${text}`).digest()
          return { _tag: "Put" as const, path: `${path}/${text}`, content }
        })
      )
      const { blobs } = yield* remote.commit("contents", Option.none(), { message: "contents", changes })
      const commit = (name: string, side: number, kept: typeof paths, parent: string) => {
        git(["read-tree", "main"])
        const entries = kept.flatMap((path) => {
          const state = states[Number(path[side])]
          if (state === undefined) return []
          const [mode, text] = state.split(" ")
          return `${mode} ${blobs.get(`${path}/${text}`)}\tfiles/${path}\n`
        })
        git(["update-index", "--index-info"], entries.join(""))
        const made = git(["commit-tree", git(["write-tree"]).out, "-p", parent, "-m", name]).out
        git(["update-ref", `refs/heads/${name}`, made])
      }
      const merged = (name: string, kept: typeof paths) => {
        commit(`${name}-base`, 0, kept, "main")
        commit(`${name}-ours`, 1, kept, `${name}-base`)
        commit(`${name}-theirs`, 2, kept, `${name}-base`)
        return git(["merge-tree", "--write-tree", "--name-only", `${name}-ours`, `${name}-theirs`])
      }
      const merge = (name: string) => store.merge(`${name}-theirs`, { into: `${name}-ours` })
      const all = merged("all", paths)
      assert.strictEqual(all.status, 1)
      const named = all.out.split("\n\n")[0]!.split("\n").slice(1)
      // Of two kinds of one path Git writes one beside the other.
      const conflicts = [...new Set(named.map((name) => name.replace(/~.*/, "")))].sort()
      const failure = yield* Effect.flip(merge("all"))
      const found = failure._tag === "ConflictError" ? (failure.unmerged ?? []).map(({ path }) => path) : []
      assert.deepStrictEqual(found.sort(), conflicts)
      const clean = merged(
        "clean",
        paths.filter((path) => !conflicts.includes(`files/${path}`))
      )
      assert.strictEqual(clean.status, 0)
      yield* merge("clean")
      assert.strictEqual(git(["rev-parse", "clean-ours^{tree}"]).out, clean.out)
    })
  )

  it.scopedLive("finds the merges of a store, and nothing wrong with them", () =>
    Effect.gen(function* () {
      const home = yield* directory
      const remote = yield* LocalGit.scoped({ directory: home, repo: "local/data" })
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", args, { cwd: join(home, "local/data.git"), encoding: "utf8" }).trim()
      const store = yield* Effect.provideService(
        Store.make({ format: 2, indexes: { people: ["city"] }, manifests: { people: ["city"] } }),
        GitRemote,
        remote
      )
      const people = store.collection("people")
      yield* store.batch({}, (batch) =>
        Effect.forEach([1, 2, 3], (n) => batch.put("people", `p${n}`, { city: "Bern", n }))
      )
      yield* store.createBranch("draft")
      const draft = store.onBranch("draft")
      yield* draft.collection("people").update("p1", { city: "Rome" })
      yield* people.update("p1", { n: 10 })
      yield* people.delete("p2")
      const { commitSha } = yield* store.merge("draft", { author: { name: "Ada", email: "ada@example.org" } })
      yield* people.update("p3", { n: 30 })
      yield* store.merge("main", { into: "draft" })
      assert.strictEqual(
        git("log", "--merges", "--format=%H %an %s", "main"),
        `${(commitSha as any).value} Ada merge draft into main`
      )
      assert.strictEqual(git("log", "-1", "--format=%P", "main~1").split(" ").length, 2)
      assert.strictEqual(git("rev-parse", "main"), git("rev-parse", "draft"), "a fast-forward")
      assert.strictEqual(git("merge-base", "main", "draft"), git("rev-parse", "draft"))
      assert.strictEqual(git("fsck", "--strict", "--no-dangling"), "")
      assert.deepStrictEqual(JSON.parse(git("show", "main:data/people/p1.json")), {
        ...JSON.parse(git("show", "main:data/people/p1.json")),
        city: "Rome",
        n: 10,
        _rev: 3
      })
      const found = yield* store.collection("people").findBy("city", "Rome")
      assert.deepStrictEqual(
        found.map(({ _id }) => _id),
        ["p1"]
      )
      const findings = yield* store.doctorWith({ deep: true })
      assert.deepStrictEqual(
        findings.filter(({ severity }) => severity !== "ok"),
        []
      )
    })
  )
})
