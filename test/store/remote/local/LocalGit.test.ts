import * as fs from "node:fs"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as GitRepositories from "../../../../src/git/disk/GitRepositories.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../../src/store/remote/local/LocalGit.js"
import { assertSound, git, put, readOnly, temporary } from "../../../git/disk/support/temporary.js"

it.scopedLive("one layer makes a repository that stock Git can use", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const written = Effect.gen(function* () {
      const remote = yield* GitRemote
      assert.strictEqual((yield* remote.probe("main")).repository, "empty")
      const text = { message: "hello", changes: [put("hello.txt", "world\n")] }
      const { commit } = yield* remote.commit("main", Option.none(), text)
      const probe = yield* remote.probe("main")
      assert.deepStrictEqual(probe, {
        repository: "present",
        branch: true,
        defaultBranch: Option.some("main"),
        write: Option.some(true)
      })
      assert.deepStrictEqual(yield* remote.budget, [])
      assert.strictEqual(remote.estimate({ _tag: "Read", documents: 5 }), 0)
      return commit
    })
    const commit = yield* Effect.provide(written, LocalGit.layer({ directory, repository: "me/notes" }))
    const bare = `${directory}/me/notes.git`
    assert.strictEqual(git(bare, "rev-parse", "main").trim(), commit)
    // No mark: its reply cannot be lost. A repository in memory makes the same commits.
    assert.strictEqual(git(bare, "log", "-1", "--format=%B", "main").trim(), "hello")
    assertSound(bare)
    git(directory, "clone", "-q", bare, "work")
    fs.writeFileSync(`${directory}/work/more.txt`, "more")
    git(`${directory}/work`, "add", ".")
    git(`${directory}/work`, "commit", "-q", "-m", "by hand")
    git(`${directory}/work`, "push", "-q", "origin", "main")
    const read = Effect.gen(function* () {
      const remote = yield* GitRemote
      const head = Option.getOrThrow(yield* remote.head("main"))
      return Option.map(yield* remote.file(head, "more.txt"), ({ content }) =>
        Buffer.from(content).toString()
      )
    })
    const shared = LocalGit.layerFrom({ repo: "me/notes" }).pipe(
      Layer.provide(GitRepositories.layer({ directory }))
    )
    assert.deepStrictEqual(yield* Effect.provide(read, shared), Option.some("more"))
  })
)

it.scopedLive("a repository that is not there, or has no proper name", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const tag = (options: LocalGit.LocalGitOptions) =>
      Effect.map(Effect.flip(Effect.scoped(LocalGit.scoped(options))), (error) => error._tag)
    assert.strictEqual(yield* tag({ directory, repo: "a/b", create: false }), "NotFoundError")
    for (const repo of ["a", "a/b/c", "../b", "a/..", "", "a/b.git"]) {
      assert.strictEqual(yield* tag({ directory, repo }), "ValidationError", repo)
    }
    assert.deepStrictEqual(fs.readdirSync(directory), [])
  })
)

it.scopedLive("hashing a directory in advance gives the tree id of the commit", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const remote = yield* LocalGit.scoped({ directory })
    const seed = Array.from({ length: 500 }, (_, i) => put(`data/users/${i}`, `${i}`))
    const first = yield* remote.commit("main", Option.none(), { message: "seed", changes: seed })
    const changes = [put("data/users/new", "1"), put("other/x", "1")]
    const told = yield* remote.treeAfter(Option.some(first), "data/users", changes.slice(0, 1))
    const before = fs.readdirSync(`${directory}/local/store.git/objects`).length
    const made = yield* remote.commit("main", Option.some(first), { message: "insert", changes })
    assert.strictEqual(fs.readdirSync(`${directory}/local/store.git/objects`).length, before)
    const tree = Option.getOrThrow(yield* remote.tree(made, "data/users"))
    assert.deepStrictEqual(told, Option.some(tree.oid))
    const gone = seed.map(({ path }) => ({ _tag: "Remove" as const, path }))
    assert.deepStrictEqual(yield* remote.treeAfter(Option.some(first), "data/users", gone), Option.none())
    const alone = yield* remote.commit("alone", Option.none(), {
      message: "alone",
      changes: changes.slice(0, 1)
    })
    assert.deepStrictEqual(
      yield* remote.treeAfter(Option.none(), "", changes.slice(0, 1)),
      Option.some(alone.tree)
    )
  })
)

it.scopedLive("a repository that this process cannot write to says so before a write", (context) =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const options = { directory, repo: "me/sealed" }
    const write = Effect.gen(function* () {
      const remote = yield* LocalGit.scoped(options)
      yield* remote.commit("main", Option.none(), { message: "hello", changes: [put("a.txt", "a")] })
    })
    yield* Effect.scoped(write)
    if (!(yield* readOnly(`${directory}/me/sealed.git`))) context.skip()
    const remote = yield* LocalGit.scoped(options)
    assert.deepStrictEqual((yield* remote.probe("main")).write, Option.some(false))
  })
)

it.scopedLive("a file, and a directory that is not a repository, are reported as what they are", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const messageOf = (options: LocalGit.LocalGitOptions) =>
      Effect.map(Effect.flip(Effect.scoped(LocalGit.scoped(options))), ({ message }) => message)
    fs.writeFileSync(`${directory}/file`, "")
    assert.strictEqual(
      yield* messageOf({ directory: `${directory}/file` }),
      `the directory ${directory}/file cannot be created: it is a file`
    )
    fs.mkdirSync(`${directory}/me/other.git`, { recursive: true })
    fs.writeFileSync(`${directory}/me/other.git/file`, "")
    assert.strictEqual(
      yield* messageOf({ directory, repo: "me/other", create: false }),
      `${directory}/me/other.git is not a bare repository`
    )
    assert.strictEqual(
      yield* messageOf({ directory, repo: "me/none", create: false }),
      `There is no repository me/none in ${directory}`
    )
  })
)
