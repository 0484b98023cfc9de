import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigError, ConfigProvider, Effect, Layer, Metric, Option, Redacted, Stream } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Call from "../../../../src/store/remote/github/client/OperationContext.js"
import * as GitHub from "../../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../../src/store/Store.js"
import { makeServer, verbs } from "../../../support/github/InProcess.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"

const bytes = (text: string) => new TextEncoder().encode(text)
const put = (path: string, content: string) => ({ _tag: "Put", path, content: bytes(content) }) as const

describe("reading from GitHub", () => {
  it.scopedLive("a document is whole in every band of size, whichever way it is read", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh()
      const sizes = [0, 1, 511_999, 512_000, 512_001, 1_000_000, 1_000_001, 3_000_000]
      const contents = sizes.map((size) => `${"grüße ".repeat(Math.ceil(size / 8))}`.slice(0, size))
      server.commit(
        "main",
        contents.map((content, index) => put(`data/${index}.json`, content))
      )
      const graphql = yield* remoteOf(server, { useGraphql: true })
      const head = Option.getOrThrow(yield* remote.head("main"))
      for (const client of [remote, graphql]) {
        const many = yield* Stream.runCollect(
          client.blobs(
            head,
            contents.map((_, index) => ({ path: `data/${index}.json` }))
          )
        )
        assert.deepStrictEqual(
          Array.from(many, (blob) => blob.content.length),
          contents.map((text) => bytes(text).length)
        )
        for (const [index, content] of contents.entries()) {
          const file = Option.getOrThrow(
            yield* client.snapshot("main").file(`data/${index}.json`, { fresh: true })
          )
          assert.strictEqual(new TextDecoder().decode(file.content), content)
        }
      }
      assert.deepStrictEqual(server.problems, [])
    })
  )

  it.scopedLive("a directory beyond 1,000 entries is complete, also by the Contents API, which cuts it", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh()
      const contents = yield* remoteOf(server, { listVia: "contents" })
      server.commit("main", [
        put("small/a.json", "1"),
        ...Array.from({ length: 1_001 }, (_, index) => put(`large/${index}.json`, "1"))
      ])
      for (const client of [remote, contents]) {
        const large = Option.getOrThrow(yield* client.snapshot("main").directory("large"))
        assert.strictEqual(large.tree.entries.length, 1_001)
      }
      server.seen.length = 0
      const small = Option.getOrThrow(yield* contents.snapshot("main").directory("small"))
      assert.strictEqual(small.tree.entries.length, 1)
      assert.deepStrictEqual(verbs(server), ["GET /contents/small?ref=main"])
      assert.isTrue(Option.isNone(yield* contents.snapshot("main").directory("missing")))
    })
  )

  it.scopedLive("a listing that the host cuts is walked", () =>
    Effect.gen(function* () {
      const server = yield* makeServer()
      // A host that cuts a listing at 40 entries.
      server.edit = ({ url }, sent) => {
        if (!url.includes("recursive")) return sent
        const { tree, ...rest } = JSON.parse(new TextDecoder().decode(sent.body))
        return { ...sent, body: bytes(JSON.stringify({ ...rest, truncated: true, tree: tree.slice(0, 40) })) }
      }
      const remote = yield* remoteOf(server)
      const paths = Array.from(
        { length: 120 },
        (_, index) => `data/docs/${index % 12}/${index % 3}/${index}.json`
      )
      server.commit("main", [put("top", "1"), ...paths.map((path) => put(path, path))])
      const head = Option.getOrThrow(yield* remote.head("main"))
      const whole = Option.getOrThrow(yield* remote.tree(head, "", { recursive: true }))
      assert.deepStrictEqual(whole.entries.map((entry) => entry.path).sort(), [...paths, "top"].sort())
      assert.strictEqual(whole.oid, head.tree)
    })
  )

  it.scopedLive("a store for reading takes documents from the raw address, pinned, without a token", () =>
    Effect.gen(function* () {
      const { server } = yield* fresh()
      server.commit("main", [put("data/ü a.json", "1")])
      const remote = yield* remoteOf(server, { readOnly: true })
      const read = Effect.map(
        remote.snapshot("main").file("data/ü a.json"),
        Option.map(({ content }) => new TextDecoder().decode(content))
      )
      assert.deepStrictEqual(yield* read, Option.some("1"))
      server.commit("main", [put("data/ü a.json", "2")])
      assert.deepStrictEqual(yield* read, Option.some("1"), "pinned")
      yield* remote.invalidate
      assert.deepStrictEqual(yield* read, Option.some("2"))
      assert.isTrue(Option.isNone(yield* remote.snapshot("main").file("data/missing.json")))
      const raw = server.seen.filter((seen) => seen.url.startsWith("/raw/"))
      assert.isAtLeast(raw.length, 3)
      for (const seen of raw) assert.isUndefined(seen.headers["authorization"])
      const refused = yield* Effect.flip(remote.commit("main", Option.none(), { message: "m", changes: [] }))
      assert.strictEqual(refused._tag, "AuthError")
      const pinned = yield* remoteOf(server, { ref: server.id("main^") })
      const old = Option.getOrThrow(yield* pinned.snapshot("main").file("data/ü a.json"))
      assert.strictEqual(new TextDecoder().decode(old.content), "1")
      assert.deepStrictEqual(server.problems, [])
    })
  )

  it.scopedLive("an unchanged document is not sent again, and is counted as such", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh()
      server.commit("main", [put("a.json", "1")])
      const first = Option.getOrThrow(yield* remote.snapshot("main").file("a.json"))
      const of = Metric.tagged(Call.notModified, "operation", "file")
      const before = (yield* Metric.value(of)).count
      const again = Option.getOrThrow(
        yield* remote.snapshot("main").file("a.json", { cached: Option.some(first) })
      )
      assert.isTrue(again.notModified)
      assert.strictEqual(server.seen.at(-1)!.status, 304)
      assert.strictEqual((yield* Metric.value(of)).count, before + 1)
      for (const seen of server.seen) assert.isUndefined(seen.headers["traceparent"] ?? seen.headers["b3"])
    })
  )

  it.scopedLive("a host that does not describe the branch's commit gets requests for ref and commit", () =>
    Effect.gen(function* () {
      for (const branchCommit of ["id", "nothing"] as const) {
        const server = yield* makeServer()
        server.edit = ({ url }, sent) => {
          if (sent.status !== 200 || !url.includes("/branches/")) return sent
          const { commit, name } = JSON.parse(new TextDecoder().decode(sent.body))
          const told = branchCommit === "id" ? { name, commit: { sha: commit.sha, url: "" } } : { name }
          return { ...sent, body: bytes(JSON.stringify(told)) }
        }
        const remote = yield* remoteOf(server)
        server.commit("main", [put("a.json", "1")])
        const first = Option.getOrThrow(yield* remote.head("main"))
        assert.strictEqual(first.tree, server.id("main^{tree}"))
        const made = yield* remote.commit("main", Option.some(first), {
          message: "two files",
          changes: [put("b.json", "2"), put("c.json", "3")]
        })
        const other = yield* remoteOf(server)
        assert.deepStrictEqual(
          Option.map(yield* other.head("main"), ({ commit }) => commit),
          Option.some(made.commit)
        )
        server.commit("main", [put("d.json", "4")])
        server.seen.length = 0
        assert.strictEqual(
          Option.getOrThrow(yield* other.head("main")).tree,
          server.id("main^{tree}"),
          "moved by somebody else"
        )
        assert.strictEqual(server.seen.length, 2, verbs(server).join())
        assert.isTrue(Option.isNone(yield* other.head("missing")))
        yield* other.head("main")
        assert.strictEqual(server.seen.at(-1)!.status, 304, "the validator is sent again")
      }
    })
  )

  it.effect("the environment describes a client", () =>
    Effect.gen(function* () {
      const options = yield* GitHub.config
      assert.strictEqual(options.repo, "o/r")
      assert.strictEqual(Redacted.value(options.token!), "secret")
      assert.notInclude(JSON.stringify(options) + String(options.token), "secret")
      const remote = yield* GitHub.make(options).pipe(Effect.provide(FetchHttpClient.layer))
      assert.strictEqual(remote.name, "https://ghe.example/api/v3/o/r")
      const layer = GitHub.layerConfig({ repo: "another/one" })
      const layered = yield* Effect.provide(GitRemote, Layer.provide(layer, FetchHttpClient.layer))
      assert.strictEqual(layered.name, "https://ghe.example/api/v3/another/one")
      const read = GitHub.layerConfig({ repo: Config.string("DATA_REPO"), timeout: "10 seconds" })
      const third = yield* Effect.provide(GitRemote, Layer.provide(read, FetchHttpClient.layer))
      assert.strictEqual(third.name, "https://ghe.example/api/v3/from/configuration")
      const missing = Layer.provide(
        GitHub.layerConfig({ rawUrl: Config.string("RAW") }),
        FetchHttpClient.layer
      )
      assert.isTrue(ConfigError.isConfigError(yield* Effect.flip(Effect.provide(GitRemote, missing))))
    }).pipe(
      Effect.withConfigProvider(
        ConfigProvider.fromMap(
          new Map([
            ["CHAINSTORE_REPO", "o/r"],
            ["DATA_REPO", "from/configuration"],
            ["CHAINSTORE_TOKEN", "secret"],
            ["CHAINSTORE_API_URL", "https://ghe.example/api/v3/"]
          ])
        )
      )
    )
  )
})

/** A repository whose collections hold what the Contents API tells no mode of: a program, and another repository. */
const oddities = Effect.gen(function* () {
  const { remote, server } = yield* fresh({ listVia: "contents" })
  const git = (input: string, ...args: ReadonlyArray<string>) =>
    server.git(args, new TextEncoder().encode(input)).trim()
  const blob = (text: string) => git(text, "hash-object", "-w", "--stdin")
  const tree = (...entries: ReadonlyArray<string>) => git(`${entries.join("\n")}\n`, "mktree", "--missing")
  const file = (name: string, mode = "100644") => `${mode} blob ${blob('{"f":1}')}\t${name}`
  const directory = (name: string, ...entries: ReadonlyArray<string>) =>
    `040000 tree ${tree(...entries)}\t${name}`
  const data = directory(
    "data",
    directory("plain", file("a.json")),
    directory("programs", file("a.json"), file("run.sh", "100755")),
    directory("parts", file("a.json"), `160000 commit ${"1".repeat(40)}\tother`),
    file("build.sh", "100755")
  )
  const commit = git("by hand\n", "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree(data))
  git("", "update-ref", "refs/heads/main", commit)
  return { git, remote, head: Option.getOrThrow(yield* remote.head("main")) }
})

describe("directories listed by the Contents API", () => {
  it.scopedLive(
    "are found by a commit, by its id and by that of its tree, which that API does not know",
    () =>
      Effect.gen(function* () {
        const { server } = yield* fresh()
        server.commit("main", [put("data/notes/a.json", '{"n":1}'), put("data/notes/b.json", "{}")])
        const commit = server.head("main") as Oid
        const tree = server.git(["rev-parse", "main^{tree}"]).trim() as Oid
        for (const at of [commit, tree, { commit, tree }]) {
          const remote = yield* remoteOf(server, { listVia: "contents", readOnly: true, maxRetries: 0 })
          for (const path of ["data", "data/notes"]) {
            const found = Option.getOrThrow(yield* remote.tree(at, path))
            assert.strictEqual(found.oid, server.git(["rev-parse", `main:${path}`]).trim())
          }
          assert.isTrue(Option.isNone(yield* remote.tree(at, "data/none")))
        }
      })
  )

  it.scopedLive(
    "have their own ids, for any modes of their entries, and may be listed completely later",
    () =>
      Effect.gen(function* () {
        const { git, head, remote } = yield* oddities
        for (const path of ["data", "data/plain", "data/programs", "data/parts"]) {
          const listed = Option.getOrThrow(yield* remote.tree(head, path))
          assert.strictEqual(listed.oid, git("", "rev-parse", `main:${path}`))
          const named = Option.getOrThrow(yield* remote.snapshot("main").directory(path))
          assert.strictEqual(named.tree.oid, listed.oid)
          const whole = Option.getOrThrow(yield* remote.tree(head, path, { recursive: true }))
          assert.strictEqual(whole.oid, listed.oid)
          assert.isAtLeast(whole.entries.length, listed.entries.length)
        }
      })
  )

  it.scopedLive("leave an index that is current after a write", () =>
    Effect.gen(function* () {
      const { remote } = yield* oddities
      const store = yield* Effect.provideService(
        Store.make({ indexes: { programs: ["f"] } }),
        GitRemote,
        remote
      )
      const programs = store.collection("programs")
      yield* programs.insert({ f: 2 }, { id: "b" })
      const { current, source } = yield* programs.explain("f", 2)
      assert.deepStrictEqual([source, current], ["index", true])
      assert.strictEqual((yield* programs.findBy("f", 1)).length, 1)
    })
  )
})
