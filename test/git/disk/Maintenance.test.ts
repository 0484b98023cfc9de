import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Option, Stream } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { failingFsync, withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

const packsOf = (directory: string) =>
  fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".pack")).length

const settings = (directory: string, ...names: ReadonlyArray<string>) =>
  names.map((name) => git(directory, "config", name).trim())

describe("maintenance", () => {
  it.scopedLive(
    "packs are combined automatically during writes, and the commit-graph keeps its filters",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: { packs: 10, quiet: 1 } })
        const { directory } = repository
        assert.deepStrictEqual(settings(directory, "gc.auto", "receive.autogc", "core.bare"), [
          "0",
          "false",
          "true"
        ])
        let writes = 0
        const graph = `${directory}/objects/info/commit-graphs`
        while (!(fs.existsSync(graph) && packsOf(directory) < 10) || writes < 40) {
          yield* write(repository, [put(`data/${writes}`, `${writes}`)])
          writes++
          if (writes % 12 === 0) yield* Effect.sleep(20)
          assert.isBelow(writes, 2_000)
        }
        yield* repository.maintain
        assert.isBelow(packsOf(directory), 10)
        assert.strictEqual(git(directory, "rev-list", "--count", "main").trim(), `${writes}`)
        const head = Option.getOrThrow(yield* repository.resolve("main"))
        const tree = Option.getOrThrow(yield* repository.tree(head, "data"))
        assert.strictEqual(tree.entries.length, writes)
        const history = yield* Stream.runCollect(repository.log(head, { path: "data/7" }))
        assert.strictEqual(Chunk.size(history), 1)
        assert.deepStrictEqual(
          fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".keep")),
          []
        )
        git(directory, "commit-graph", "verify")
        assertSound(directory)
      }),
    60_000
  )

  it.scopedLive(
    "many loose objects are packed automatically",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: { looseObjects: 20, quiet: 1 } })
        const { directory } = repository
        const loose = () => Number(/^count: (\d+)/m.exec(git(directory, "count-objects", "-v"))![1])
        const stage = (n: number) => repository.writeObject("blob", Buffer.from(`loose ${n}`))
        const oids = yield* Effect.forEach(
          Array.from({ length: 19 }, (_, n) => n),
          stage
        )
        yield* write(
          repository,
          oids.map((oid, n) => ({ _tag: "Link", path: `${n}`, oid }))
        )
        yield* Effect.sleep(50)
        assert.strictEqual(loose(), 19)
        const last = yield* stage(19)
        // No ref reaches the last one, so it stays where Git leaves it alone.
        yield* Effect.repeat(Effect.sleep(10), { until: () => loose() === 1 })
        for (const oid of [...oids, last]) assert.isTrue(Option.isSome(yield* repository.object(oid)))
        assert.isAtMost(packsOf(directory), 2)
        assertSound(directory)
      }),
    30_000
  )

  it.scopedLive("everything stays readable while other processes repack, pack refs and prune", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      const { blobs } = yield* write(repository, [put("d/a", "first")])
      for (let i = 0; i < 6; i++) {
        yield* write(repository, [put(`d/${i}`, `${i}`)])
        git(
          directory,
          ...[
            ["gc", "-q", "--prune=now"],
            ["pack-refs", "--all", "--prune"],
            ["repack", "-adq"]
          ][i % 3]!
        )
        const head = Option.getOrThrow(yield* repository.resolve("main"))
        const entry = Option.getOrThrow(yield* repository.lookup(head, `d/${i}`))
        assert.isTrue(Option.isSome(yield* repository.object(entry.oid)))
        const first = Option.getOrThrow(yield* repository.object(blobs.get("d/a")!))
        assert.strictEqual(Buffer.from(first.content).toString(), "first")
      }
      assert.strictEqual(git(directory, "rev-list", "--count", "main").trim(), "7")
      assertSound(directory)
    })
  )
})

const indexesOf = (directory: string) =>
  fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".idx"))

describe("combining packs", () => {
  it.scopedLive.skipIf(!fs.existsSync("/proc/self/fd"))(
    "deletes no pack before the name of the new one is durable",
    () =>
      Effect.gen(function* () {
        const repository = yield* engine({ maintenance: false })
        const { directory } = repository
        for (let n = 0; n < 5; n++) yield* write(repository, [put("a", `${n}`)])
        const before = indexesOf(directory)
        const packs = `${fs.realpathSync(directory)}/objects/pack`
        const fsync = failingFsync((path) => path === packs)
        yield* withReplaced({ fsync }, Effect.flip(repository.maintain))
        assert.includeMembers(indexesOf(directory), before)
        yield* repository.maintain
        assert.strictEqual(indexesOf(directory).length, 1)
        assertSound(directory)
      })
  )

  it.scopedLive("works in a partial clone and with alternates, and keeps unreachable objects", () =>
    Effect.gen(function* () {
      const lender = yield* engine({ maintenance: false })
      for (let n = 0; n < 5; n++) yield* write(lender, [put(`a${n}`, `${n}`)])
      git(lender.directory, "config", "uploadpack.allowFilter", "true")
      for (const how of ["--filter=blob:none", "--filter=tree:0", "--shared"]) {
        const directory = `${yield* temporary}/clone.git`
        const from = how === "--shared" ? lender.directory : `file://${lender.directory}`
        git("/", "clone", "-q", "--bare", how, from, directory)
        const promised = indexesOf(directory)
        const repository = yield* Engine.open({ directory, maintenance: false })
        const lost = yield* repository.writeObject("blob", Buffer.from("unreachable"))
        for (let n = 0; n < 5; n++) yield* write(repository, [put(`b${n}`, `${n}`)], { branch: "own" })
        yield* repository.maintain
        assert.strictEqual(indexesOf(directory).length, promised.length + 1, how)
        assert.includeMembers(indexesOf(directory), promised)
        assert.strictEqual(git(directory, "cat-file", "blob", lost), "unreachable")
        assert.strictEqual(git(directory, "show", "own:b3"), "3")
        git(lender.directory, "repack", "-adq")
        yield* write(repository, [put("b9", "9")], { branch: "own" })
        yield* repository.maintain
        assertSound(directory)
      }
    })
  )
})

describe("refs", () => {
  it.scopedLive("packed refs are read, moved and deleted, and do not reappear", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      const { commit } = yield* write(repository, [put("a", "1")])
      const some = Option.some(commit)
      for (const name of ["one", "two", "deep/er"])
        yield* repository.updateRef(`refs/heads/${name}`, Option.none(), some)
      git(directory, "tag", "-a", "-m", "annotated", "v1", "main")
      git(directory, "pack-refs", "--all")
      assert.isFalse(fs.existsSync(`${directory}/refs/heads/one`))
      assert.deepStrictEqual(yield* repository.resolve("v1"), some)
      assert.deepStrictEqual(yield* repository.resolve(commit.slice(0, 7)), some)
      assert.deepStrictEqual(
        (yield* repository.refs("refs/heads/")).map(({ name }) => name.slice(11)),
        ["deep/er", "main", "one", "two"]
      )
      yield* write(repository, [put("a", "2")], { branch: "one" })
      yield* repository.updateRef("refs/heads/two", some, Option.none())
      assert.isTrue(Option.isNone(yield* repository.ref("refs/heads/two")))
      assert.notInclude(git(directory, "for-each-ref"), "heads/two")
      yield* repository.updateRef("refs/heads/deep/er", some, Option.none())
      yield* repository.updateRef("refs/heads/deep", Option.none(), some)
      assert.include(git(directory, "for-each-ref"), "refs/heads/deep\n")
      const moved = yield* Effect.flip(repository.updateRef("refs/heads/one", some, some))
      assert.strictEqual(moved._tag, "RefMoved")
      assert.strictEqual(git(directory, "rev-parse", "v1^{}").trim(), commit)
      assertSound(directory)
    })
  )
})

describe("a file in refs/heads whose name is not valid for a branch", () => {
  it.scopedLive("is ignored, such as the temporary file of a copy", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { commit } = yield* write(repository, [put("a", "1")])
      for (const name of [".main.Xy12Zz", "main.lock", "main~"]) {
        fs.writeFileSync(`${repository.directory}/refs/heads/${name}`, commit.slice(0, 20))
      }
      assert.deepStrictEqual(yield* repository.refs("refs/"), [{ name: "refs/heads/main", oid: commit }])
    })
  )
})

describe("an empty directory with the name of a packed ref", () => {
  it.scopedLive("does not prevent the deletion of the ref", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { commit } = yield* write(repository, [put("a", "1")])
      const one = "refs/heads/one"
      yield* repository.updateRef(one, Option.none(), Option.some(commit))
      git(repository.directory, "pack-refs", "--all")
      fs.mkdirSync(`${repository.directory}/${one}/left`, { recursive: true })
      yield* repository.updateRef(one, Option.some(commit), Option.none())
      assert.isTrue(Option.isNone(yield* repository.ref(one)))
    })
  )
})

describe("the engine reads like Git", () => {
  it.scopedLive("HEAD without a space, and settings that are commented out", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      fs.writeFileSync(`${directory}/HEAD`, "ref:refs/heads/trunk\n")
      fs.appendFileSync(`${directory}/config`, "# objectformat = sha256, one day\n")
      assert.strictEqual(git(directory, "symbolic-ref", "HEAD").trim(), "refs/heads/trunk")
      assert.strictEqual(yield* repository.defaultBranch, "trunk")
      const { commit } = yield* write(repository, [put("a", "1")], { branch: "trunk" })
      assert.deepStrictEqual(yield* repository.ref("HEAD"), Option.some(commit))
      yield* Engine.open({ directory })
    })
  )
})

describe("names that are not ASCII", () => {
  it.scopedLive("the default branch has its name", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ defaultBranch: "größe" })
      const { commit } = yield* write(repository, [put("a", "1")], { branch: "größe" })
      assert.strictEqual(yield* repository.defaultBranch, "größe")
      assert.deepStrictEqual(yield* repository.ref("HEAD"), Option.some(commit))
    })
  )

  it.scopedLive("packed refs keep their names, in UTF-8 or not, when another ref is deleted", () =>
    Effect.gen(function* () {
      const repository = yield* engine()
      const { directory } = repository
      const { commit } = yield* write(repository, [put("a", "1")])
      const lines = ["caf\xe9", "gr\xc3\xb6\xc3\x9fe", "two"].map((name) => `${commit} refs/heads/${name}\n`)
      const header = "# pack-refs with: peeled fully-peeled sorted \n"
      const file = `${directory}/packed-refs`
      fs.writeFileSync(file, header + lines.join(""), "latin1")
      assert.deepStrictEqual(yield* repository.ref("refs/heads/größe"), Option.some(commit))
      yield* repository.updateRef("refs/heads/two", Option.some(commit), Option.none())
      assert.strictEqual(fs.readFileSync(file, "latin1"), header + lines.slice(0, 2).join(""))
      yield* repository.updateRef("refs/heads/größe", Option.some(commit), Option.none())
      assert.strictEqual(fs.readFileSync(file, "latin1"), header + lines[0])
    })
  )
})

describe("pushes by Git alone", () => {
  /** A repository to which a function can push, as the host does. */
  const pushed = Effect.gen(function* () {
    const { directory } = yield* engine({ maintenance: false })
    const maintenance = { packs: 5, looseObjects: 100, quiet: 10 }
    const repository = yield* Engine.open({ directory, maintenance })
    const other = yield* engine({ maintenance: false })
    const push = (files: ReadonlyArray<number>, unpackLimit: number) =>
      Effect.gen(function* () {
        yield* write(
          other,
          files.map((n) => put(`d${n % 10}/${n}`, `${n}`))
        )
        git(directory, "config", "receive.unpackLimit", `${unpackLimit}`)
        yield* repository.withGitChildren(
          repository.withExclusiveAccess(
            Effect.sync(() => git(other.directory, "push", "-q", directory, "main:refs/heads/main"))
          )
        )
      })
    return { directory, push }
  })
  const until = (is: () => boolean) => Effect.repeat(Effect.sleep(200), { until: is })

  it.scopedLive("begin the maintenance of their packs", () =>
    Effect.gen(function* () {
      const { directory, push } = yield* pushed
      yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) => push([n], 1))
      yield* until(() => packsOf(directory) < 5)
    })
  )

  it.scopedLive("begin the maintenance of their loose objects", () =>
    Effect.gen(function* () {
      const { directory, push } = yield* pushed
      yield* push(
        Array.from({ length: 300 }, (_, n) => n),
        1_000
      )
      yield* until(() => git(directory, "count-objects").startsWith("0 "))
    })
  )
})
