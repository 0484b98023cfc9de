import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, type Scope } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../src/store/remote/github/GitHub.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import { Store } from "../../../src/store/Store.js"
import { idsOf } from "../../support/documents.js"
import { clientOf, newRepository } from "../../support/github/OnHost.js"
import { directory, thisHost, ways } from "./Remotes.js"

/** A remote, and stock git in the bare repository under it. */
interface Place {
  readonly remote: Layer.Layer<GitRemote, unknown>
  readonly run: (command: string) => string
  readonly lines: (command: string) => ReadonlyArray<string>
}

const placeAt = (home: string, at: string, remote: Place["remote"]): Place => {
  const env = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" }
  const run = (command: string) => execFileSync("bash", ["-ec", command], { cwd: at, env }).toString()
  return { remote, run, lines: (command) => run(command).trimEnd().split("\n") }
}

const locally = Effect.gen(function* () {
  const where = yield* directory
  const at = `${where}/local/store.git`
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", at])
  return placeAt(where, at, LocalGit.layer({ directory: where, durability: "none" }))
})

const onHost = (options: Partial<GitHubOptions>) =>
  Effect.gen(function* () {
    const home = yield* directory
    const repository = yield* Effect.provide(newRepository, thisHost)
    return placeAt(home, repository.directory, Layer.effect(GitRemote, clientOf(repository, options)))
  })

const places: ReadonlyArray<readonly [string, Effect.Effect<Place, unknown, Scope.Scope>]> = [
  ["LocalGit", locally],
  ...ways.map(([way, options]) => [`GitHub's client on our own host, ${way}`, onHost(options)] as const)
]

describe.each(places)("a repository of documents on %s", (_name, place) => {
  it.scopedLive("is read with plain git and jq", () =>
    Effect.gen(function* () {
      const { lines, remote, run } = yield* place
      const sha = yield* Effect.gen(function* () {
        const store = yield* Store
        const people = store.collection("people")
        yield* people.insert({ name: "Ada", city: "London" }, { id: "ada" })
        yield* people.insert({ name: "Grüße", city: "Köln" }, { id: "koeln", message: "a name with ü" })
        yield* people.update("ada", { city: "Paris" })
        yield* people.delete("koeln")
        return Option.getOrThrow(yield* store.commitSha)
      }).pipe(
        Effect.provide(
          Layer.provide(
            Store.layer({ author: { name: "Ed", email: "ed@example.org" }, indexes: { people: ["city"] } }),
            remote
          )
        )
      )
      assert.deepStrictEqual(lines("git rev-parse main"), [sha])
      // GitHub has no other way to begin a repository than with one file: its first commit may have a parent.
      const log = lines("git log --format=%s%x09%an main").filter((line) => !line.startsWith("first commit"))
      assert.deepStrictEqual(log, [
        "delete people/koeln\tEd",
        "update people/ada\tEd",
        "a name with ü\tEd",
        "insert people/ada\tEd"
      ])
      assert.deepStrictEqual(lines("git show main:data/people/ada.json | jq -r '.name, .city, ._rev'"), [
        "Ada",
        "Paris",
        "2"
      ])
      assert.deepStrictEqual(lines("git show main:data/_index/people/city.json | jq -r '.values | keys[]'"), [
        "Paris"
      ])
      assert.strictEqual(
        run("git rev-parse main:data/people").trim(),
        run("git show main:data/_index/people/city.json | jq -r .tree").trim()
      )
      assert.deepStrictEqual(lines("git ls-tree -r main --format='%(objectmode) %(path)'"), [
        "100644 data/_chainstore.json",
        "100644 data/_index/people/city.json",
        "100644 data/people/ada.json"
      ])
      assert.strictEqual(run("git fsck --strict --full 2>&1"), "")
      assert.strictEqual(
        run("git show main~2:data/people/koeln.json"),
        execFileSync("python3", [
          "-c",
          'import json,subprocess,sys; d=json.loads(sys.argv[1]); sys.stdout.buffer.write((json.dumps(d,indent=2,sort_keys=True,ensure_ascii=False)+"\\n").encode())',
          run("git show main~2:data/people/koeln.json")
        ]).toString()
      )
    })
  )

  it.scopedLive("finds a hash-sharded document by the sum that the shell computes", () =>
    Effect.gen(function* () {
      const { remote, run } = yield* place
      yield* Effect.gen(function* () {
        const store = yield* Store
        yield* store.collection("c").upsert("abc", { v: 2 })
      }).pipe(Effect.provide(Layer.provide(Store.layer({ shardBy: "hash", shardDepth: 1 }), remote)))
      assert.strictEqual(
        run("git show main:data/c/$(printf %s abc | sha256sum | cut -c1-2)/abc.json | jq .v").trim(),
        "2"
      )
    })
  )

  it.scopedLive("takes commits of stock git beside its own", () =>
    Effect.gen(function* () {
      const { remote, run } = yield* place
      yield* Effect.gen(function* () {
        const store = yield* Store
        const c = store.collection("c")
        yield* c.insert({ x: 1 }, { id: "a" })
        run(`git clone -q . "$HOME/work" && cd "$HOME/work" && mkdir -p data/c && echo '{"x": 1, "by": "hand"}' > data/c/b.json &&
          git add . && git -c user.name=H -c user.email=h@x commit -qm "by hand" && git push -q origin HEAD:main`)
        assert.deepStrictEqual(idsOf(yield* c.findBy("x", 1)), ["a", "b"])
        assert.strictEqual((yield* c.update("b", { y: 2 }))["by"], "hand")
        assert.strictEqual((yield* c.explain("x", 1)).source, "index")
        run(
          "cd $HOME/work && git pull -q && echo '{}' > data/c/a.json && git -c user.name=H -c user.email=h@x commit -qam again && git push -q origin HEAD:main"
        )
        assert.strictEqual(Option.getOrThrow(yield* c.get("a"))["x"], undefined)
        assert.deepStrictEqual(idsOf(yield* c.findBy("x", 1)), ["b"])
        assert.strictEqual(run("git fsck --strict --full 2>&1"), "")
      }).pipe(Effect.provide(Layer.provide(Store.layer({ indexes: { c: ["x"] }, manifests: ["c"] }), remote)))
    })
  )
})
