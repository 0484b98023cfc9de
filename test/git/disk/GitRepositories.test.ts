import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Scheduler, TestClock, TestServices } from "effect"
import * as GitRepositories from "../../../src/git/disk/GitRepositories.js"
import { withScript } from "./support/gitOnPath.js"
import { engine, git, put, temporary, write } from "./support/temporary.js"

it.scopedLive("repositories are created, shared, listed and found again", () =>
  Effect.gen(function* () {
    const directory = `${yield* temporary}/repos`
    const repositories = yield* GitRepositories.make({ directory, idle: "0 millis" })
    assert.deepStrictEqual(yield* repositories.list, [])
    const missing = yield* Effect.flip(repositories.open("local", "demo"))
    assert.strictEqual(missing._tag, "NotFoundError")
    const made = yield* repositories.create("local", "demo", { defaultBranch: "trunk" })
    assert.isTrue(made.created)
    assert.strictEqual(yield* made.repository.defaultBranch, "trunk")
    const again = yield* repositories.create("local", "demo")
    assert.isFalse(again.created)
    assert.strictEqual(again.repository, made.repository)
    assert.strictEqual(yield* repositories.open("local", "demo"), made.repository)
    yield* Effect.scoped(repositories.create("a", "b"))
    fs.symlinkSync(`${directory}/nowhere`, `${directory}/gone`)
    assert.deepStrictEqual(yield* repositories.list, [
      { owner: "a", name: "b" },
      { owner: "local", name: "demo" }
    ])
    assert.isTrue(yield* repositories.exists("a", "b"))
    assert.deepStrictEqual(fs.readdirSync(`${directory}/a/b.git/chainstore`), [], "an unused one is closed")
    assert.strictEqual(git(`${directory}/local/demo.git`, "symbolic-ref", "HEAD").trim(), "refs/heads/trunk")
    for (const bad of ["..", ".hidden", "", "a/b", "a b", "x.git", "-x", "a\\b"]) {
      assert.strictEqual((yield* Effect.flip(repositories.create("local", bad)))._tag, "ValidationError", bad)
      assert.isFalse(yield* repositories.exists("local", bad))
    }
  })
)

it.scopedLive("a prepared repository exists with its whole content, or not at all", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const repositories = yield* GitRepositories.make({ directory })
    const there = () => fs.readdirSync(directory, { recursive: true })
    const prepare = (name: string) =>
      repositories.prepare((repository) => write(repository, [put(name, "1")]), { defaultBranch: "trunk" })
    const unnamed = repositories.prepare((repository) => {
      assert.isFalse(fs.existsSync(`${directory}/local`))
      return Effect.zipRight(write(repository, [put("a", "1")]), Effect.fail("late"))
    })
    assert.strictEqual(yield* Effect.flip(Effect.scoped(unnamed)), "late")
    yield* Effect.scoped(prepare("unpublished"))
    assert.deepStrictEqual(there(), [])
    const published = (name: string) =>
      Effect.scoped(Effect.flatMap(prepare(name), ({ publish }) => publish("local", "demo")))
    const outcomes = yield* Effect.all([published("a"), published("b")], { concurrency: 2 })
    assert.deepStrictEqual([...outcomes].sort(), [false, true])
    assert.deepStrictEqual(fs.readdirSync(directory), ["local"])
    const made = yield* repositories.open("local", "demo")
    assert.strictEqual(yield* made.defaultBranch, "trunk")
    const head = Option.getOrThrow(yield* made.resolve("main"))
    const tree = Option.getOrThrow(yield* made.tree(head, ""))
    assert.deepStrictEqual(
      tree.entries.map(({ path }) => path),
      [outcomes[0] ? "a" : "b"]
    )
    git(`${directory}/local/demo.git`, "fsck", "--strict")
  })
)

it.scopedLive("concurrent creations make one repository", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const [one, two] = yield* Effect.all([
      GitRepositories.make({ directory }),
      GitRepositories.make({ directory })
    ])
    const created = yield* Effect.forEach([one, two, one, two], (all) => all.create("local", "demo"), {
      concurrency: "unbounded"
    })
    yield* Effect.forEach(
      created,
      ({ repository }, i) =>
        write(repository, [put(`f${i}`, "1")]).pipe(
          Effect.retry({ while: (error) => error._tag === "RefMoved" })
        ),
      { concurrency: "unbounded" }
    )
    const head = Option.getOrThrow(yield* created[0]!.repository.resolve("main"))
    const tree = Option.getOrThrow(yield* created[1]!.repository.tree(head, ""))
    assert.strictEqual(tree.entries.length, 4)
    assert.deepStrictEqual(
      fs.readdirSync(`${directory}/local`).filter((name) => name !== "demo.git"),
      []
    )
  })
)

it.scopedLive(
  "directories of abandoned creations and removals are deleted, unless a process may still use them",
  () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const old = new Date(Date.now() - 2 * 60 * 60 * 1000)
      for (const name of [".removing-old", ".creating-old", ".creating-new", "kept.git"]) {
        fs.mkdirSync(`${directory}/local/${name}/objects/pack`, { recursive: true })
        if (!name.endsWith("-new")) fs.utimesSync(`${directory}/local/${name}`, old, old)
      }
      for (const name of [".creating-old", ".creating-new"]) {
        fs.mkdirSync(`${directory}/${name}/repository.git`, { recursive: true })
        if (!name.endsWith("-new")) fs.utimesSync(`${directory}/${name}`, old, old)
      }
      yield* GitRepositories.make({ directory })
      const left = Effect.sync(() => fs.readdirSync(`${directory}/local`).sort())
      const expected = [".creating-new", "kept.git"]
      yield* Effect.repeat(Effect.delay(left, "20 millis"), {
        until: (names) => names.length <= expected.length,
        times: 250
      })
      assert.deepStrictEqual(yield* left, expected)
      assert.deepStrictEqual(fs.readdirSync(directory).sort(), [".creating-new", "local"])
    })
)

it.scoped("a repository that a process prepares for hours is not deleted when another process starts", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const repositories = yield* GitRepositories.make({ directory })
    const old = new Date(Date.now() - 2 * 60 * 60 * 1000)
    const { publish } = yield* repositories.prepare((repository) =>
      Effect.gen(function* () {
        yield* write(repository, [put("a", "1")])
        const abandoned = `${directory}/local/.removing-old`
        fs.mkdirSync(abandoned, { recursive: true })
        for (const made of [abandoned, path.dirname(repository.directory)]) fs.utimesSync(made, old, old)
        yield* TestClock.adjust("2 hours")
        yield* GitRepositories.make({ directory })
        const isDone = Effect.repeat(Effect.sleep(20), { until: () => !fs.existsSync(abandoned) })
        yield* TestServices.provideLive(isDone)
        yield* write(repository, [put("a", "2")])
      })
    )
    assert.isTrue(yield* publish("local", "demo"))
    git(`${directory}/local/demo.git`, "fsck", "--strict")
  })
)

it.scopedLive("each of several concurrent callers gets the repository that replaced another", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    const repositories = yield* GitRepositories.make({ directory })
    let old = (yield* repositories.create("local", "demo")).repository
    // The callers yield to each other at other places in each round.
    for (let yieldAt = 1; yieldAt <= 40; yieldAt++) {
      fs.renameSync(`${directory}/local/demo.git`, `${directory}/old-${yieldAt}.git`)
      git(directory, "init", "-q", "--bare", "local/demo.git")
      let operations = 0
      const scheduler: Scheduler.Scheduler = {
        shouldYield: () => (++operations === yieldAt ? 0 : false),
        scheduleTask: (task, priority) => Scheduler.defaultScheduler.scheduleTask(task, priority)
      }
      const open = repositories.open("local", "demo")
      const found = yield* Effect.all([Effect.withScheduler(open, scheduler), open], {
        concurrency: "unbounded"
      })
      assert.notInclude(found, old, `${yieldAt}`)
      old = found[0]
    }
  })
)

describe("a repository that nobody uses, and whose maintenance takes longer than it stays open", () => {
  /** A repository with six packs that is being maintained. */
  const maintained = Effect.gen(function* () {
    const directory = yield* temporary
    const maintenance = { packs: 5, quiet: "10 millis" } as const
    const repositories = yield* GitRepositories.make({ directory, idle: "400 millis", maintenance })
    yield* Effect.scoped(
      Effect.flatMap(repositories.create("me", "notes"), ({ repository }) =>
        Effect.forEach([1, 2, 3, 4, 5, 6], (n) => write(repository, [put("a", `${n}`)]))
      )
    )
    const repository = `${directory}/me/notes.git`
    const lock = `${repository}/chainstore/maintenance.lock`
    yield* Effect.repeat(Effect.sleep(5), { until: () => fs.existsSync(lock) })
    return { repositories, repository }
  })
  const withSlowMaintenance = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(engine({ maintenance: false }), ({ directory }) =>
      withScript(directory, 'case "$*" in *" pack-objects "*) sleep 1.5 ;; esac\nexec $git "$@"', effect)
    )

  it.scopedLive("is maintained to the end", () =>
    withSlowMaintenance(
      Effect.gen(function* () {
        const { repository } = yield* maintained
        const packs = () =>
          fs.readdirSync(`${repository}/objects/pack`).filter((name) => name.endsWith(".pack")).length
        yield* Effect.repeat(Effect.sleep(20), { until: () => packs() <= 2 })
        yield* Effect.repeat(Effect.sleep(20), {
          until: () => fs.readdirSync(`${repository}/chainstore`).length === 0
        })
      }).pipe(Effect.timeout("10 seconds"))
    )
  )

  it.scopedLive("can be removed meanwhile", () =>
    withSlowMaintenance(
      Effect.gen(function* () {
        const { repositories, repository } = yield* maintained
        assert.isTrue(yield* repositories.remove("me", "notes"))
        yield* Effect.sleep(1_500)
        assert.isFalse(fs.existsSync(repository))
      })
    )
  )
})
