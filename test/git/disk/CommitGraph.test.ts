import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { countingGit } from "./support/gitOnPath.js"
import { withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, git, put, temporary, write } from "./support/temporary.js"

const graphs = (directory: string) => `${directory}/objects/info/commit-graphs`
const layersOf = (directory: string) =>
  fs
    .readFileSync(`${graphs(directory)}/commit-graph-chain`, "utf8")
    .trim()
    .split("\n").length

const commit = (directory: string, message: string, ...parents: ReadonlyArray<string>) =>
  git(
    directory,
    "commit-tree",
    "-m",
    message,
    ...parents.flatMap((parent) => ["-p", parent]),
    "main^{tree}"
  ).trim()

/** Runs the maintenance, and returns whether it has written the commit-graph anew. */
const writesAnew = (repository: GitRepository) =>
  Effect.map(
    countingGit(repository.directory, repository.maintain),
    ({ countOf }) => countOf("--split=replace") > 0
  )

/** A repository with octopus merges, and a commit-graph of several layers. */
const layered = Effect.gen(function* () {
  const repository = yield* engine({ maintenance: false })
  const { directory } = repository
  const { commit: first } = yield* write(repository, [put("a", "1")])
  // Git merges a layer into the next one if it is not twice as large.
  for (const [layer, size] of [60, 20, 5].entries()) {
    const sides = Array.from({ length: size }, (_, n) => commit(directory, `${layer}/${n}`, first))
    const merge = commit(directory, `merge ${layer}`, ...sides)
    const top = commit(directory, `top ${layer}`, git(directory, "rev-parse", "main").trim(), merge, first)
    git(directory, "update-ref", "refs/heads/main", top)
    yield* repository.maintain
  }
  assert.isAbove(layersOf(directory), 1)
  return repository
})

describe("the commit-graph of octopus merges, in several layers", () => {
  it.scopedLive("is not written anew while its commits exist, also if no ref reaches them", () =>
    Effect.gen(function* () {
      const repository = yield* layered
      const { directory } = repository
      assert.isFalse(yield* writesAnew(repository))
      for (let n = 0; n < 6; n++) yield* write(repository, [put("a", `${n}`)], { branch: "packed" })
      yield* repository.maintain
      for (let n = 0; n < 6; n++) yield* write(repository, [put("a", `${n}`)])
      assert.isFalse(yield* writesAnew(repository), "while the packs of the commits are combined")
      git(directory, "update-ref", "refs/heads/main", "main~1")
      git(directory, "update-ref", "refs/heads/other", commit(directory, "other", "main"))
      assert.isFalse(yield* writesAnew(repository))
      assertSound(directory)
    })
  )

  it.scopedLive.each([
    ["the last layer", "main~1"],
    ["all layers", "main~3"]
  ] as const)("is written anew when Git has deleted commits of %s", ([, to]) =>
    Effect.gen(function* () {
      const repository = yield* layered
      const { directory } = repository
      git(directory, "update-ref", "refs/heads/main", to)
      git(directory, "repack", "-a", "-d", "-q")
      git(directory, "prune", "--expire=now")
      assert.throws(() => assertSound(directory))
      assert.isTrue(yield* writesAnew(repository))
      assertSound(directory)
      assert.isFalse(yield* writesAnew(repository))
    })
  )

  it.scopedLive("is written anew when Git has deleted one side of which nothing was merged", () =>
    Effect.gen(function* () {
      const repository = yield* layered
      const { directory } = repository
      git(directory, "update-ref", "refs/heads/side", commit(directory, "side", "main~1"))
      yield* repository.maintain
      git(directory, "update-ref", "-d", "refs/heads/side")
      git(directory, "repack", "-a", "-d", "-q")
      git(directory, "prune", "--expire=now")
      assert.isTrue(yield* writesAnew(repository))
      assertSound(directory)
    })
  )
})

it.scopedLive("the commit-graph of `git gc` is written anew when Git has deleted its commits since", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false })
    const { directory } = repository
    for (const n of [1, 2, 3]) yield* write(repository, [put("a", `${n}`)])
    git(directory, "commit-graph", "write", "--reachable")
    git(directory, "update-ref", "refs/heads/main", "main~1")
    git(directory, "repack", "-a", "-d", "-q")
    git(directory, "prune", "--expire=now")
    assert.throws(() => assertSound(directory))
    yield* repository.maintain
    assertSound(directory)
  })
)

it.scopedLive(
  "a commit-graph that can be neither read nor removed is reported, and the repository can be written",
  () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      // A file with these properties needs a broken disk. A directory has them, too.
      fs.mkdirSync(`${directory}/objects/info/commit-graph`)
      const repository = yield* Engine.open({ directory, maintenance: false })
      yield* write(repository, [put("a", "1")])
      const [finding] = yield* repository.health
      assert.include(finding?.message, "objects/info/commit-graph is damaged")
    })
)

it.scopedLive("a commit-graph that is based on that of an alternate is not damaged", () =>
  Effect.gen(function* () {
    const lender = yield* engine({ maintenance: false })
    for (let n = 0; n < 12; n++) yield* write(lender, [put("a", `${n}`)])
    yield* lender.maintain
    const directory = `${yield* temporary}/borrower.git`
    git(lender.directory, "clone", "-q", "--bare", "--shared", lender.directory, directory)
    const repository = yield* Engine.open({ directory, maintenance: false })
    yield* write(repository, [put("a", "more")])
    yield* repository.maintain
    assert.strictEqual(layersOf(directory), 2)
    assert.strictEqual(fs.readdirSync(graphs(directory)).length, 2)
    assert.isFalse(yield* writesAnew(repository))
    assert.deepStrictEqual(yield* repository.health, [])
    assert.strictEqual(layersOf(directory), 2)
    assertSound(directory)
  })
)

describe("a chain of commit-graphs that Git replaces while the health of a repository is examined", () => {
  it.scopedLive("is intact, and stays", () =>
    Effect.gen(function* () {
      const repository = yield* engine({ maintenance: false })
      const { directory } = repository
      for (let n = 0; n < 3; n++) {
        yield* write(repository, [put("a", `${n}`)])
        git(directory, "commit-graph", "write", "--reachable", "--split=no-merge", "--no-progress")
      }
      yield* write(repository, [put("a", "last")])
      const chain = `${directory}/objects/info/commit-graphs/commit-graph-chain`
      let isReplaced = false
      const readFileSync =
        (real: (...args: ReadonlyArray<any>) => unknown) =>
        (...args: ReadonlyArray<any>) => {
          const text = real(...args)
          if (args[0] === chain && !isReplaced) {
            isReplaced = true
            git(directory, "commit-graph", "write", "--reachable", "--split=replace", "--no-progress")
          }
          return text
        }
      const findings = yield* withReplaced({ readFileSync } as any, repository.health)
      assert.isTrue(isReplaced)
      assert.deepStrictEqual(
        findings.map(({ code, message }) => `${code}: ${message}`),
        []
      )
      assert.isTrue(fs.existsSync(chain))
    })
  )
})
