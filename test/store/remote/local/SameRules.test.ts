import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Either, Fiber, Option, Stream } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import {
  type Change,
  type Committed,
  GitRemote,
  type GitRemoteService
} from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import { connect, hosted, remotes } from "../../core/Remotes.js"

/** A clock that stands still, and lets what waits wait in real time. */
const standingAt = (millis: number): Clock.Clock =>
  Object.assign(Object.create(Clock.make()), {
    currentTimeMillis: Effect.succeed(millis),
    unsafeCurrentTimeMillis: () => millis
  })

const put = (path: string) => ({ _tag: "Put" as const, path, content: new TextEncoder().encode("{}") })

const commitOf = (remote: GitRemoteService, name: string, path = "data/a.json", branch = "main") =>
  Effect.map(
    remote.commitNext(branch, () =>
      Effect.succeed({
        commit: Option.some({
          message: "a message",
          changes: [put(path)],
          author: { name, email: "ada@example.org" }
        }),
        result: undefined
      })
    ),
    ({ committed }) => Option.getOrThrow(committed).commit
  )

describe("Memory and LocalGit", () => {
  it.scopedLive("make the same commit of the same change, whatever the author is called", () =>
    Effect.gen(function* () {
      for (const name of ["Ada", ".Ada", " Ada, ", "Dr. Ada L.", "'A'da\"", "Ää\\"]) {
        const made = yield* Effect.forEach(remotes, ([, layer]) =>
          Effect.flatMap(connect(layer), (remote) => commitOf(remote, name))
        ).pipe(Effect.withClock(standingAt(1_700_000_000_000)))
        assert.strictEqual(new Set(made).size, 1, `${name}: ${made}`)
      }
    })
  )
})

describe("Memory and LocalGit return the same", () => {
  const nowhere = "0123456789012345678901234567890123456789" as Oid
  const change = (...changes: ReadonlyArray<Change>) => ({ message: "next", changes })
  const remove = (path: string): Change => ({ _tag: "Remove", path })
  const link = (path: string, oid: Oid): Change => ({ _tag: "Link", path, oid })

  /** What is asked of a repository with two commits on `main`. */
  const questions: Readonly<
    Record<
      string,
      (remote: GitRemoteService, first: Committed, second: Committed) => Effect.Effect<unknown, unknown>
    >
  > = {
    "a commit that removes an absent path": (remote, _, at) =>
      remote.commit("main", Option.some(at), change(remove("data/none.json"))),
    "a commit that removes a directory": (remote, _, at) =>
      remote.commit("main", Option.some(at), change(remove("data"))),
    "a commit below a file": (remote, _, at) =>
      remote.commit("main", Option.some(at), change(put("data/a.json/b"))),
    "a commit that links an absent blob": (remote, _, at) =>
      remote.commit("main", Option.some(at), change(link("data/c.json", nowhere))),
    "a commit that links a tree": (remote, _, at) =>
      remote.commit("main", Option.some(at), change(link("data/c.json", at.tree))),
    "a commit with a NUL in its message": (remote, _, at) =>
      remote.commit("main", Option.some(at), { message: "a\0b", changes: [] }),
    "a commit that puts, links and removes": (remote, _, at) =>
      remote.commit(
        "main",
        Option.some(at),
        change(put("data/c.json"), link("data/d.json", at.blobs.get("data/b.json")!), remove("data/b.json"))
      ),
    "a commit on another head": (remote, first) => remote.commit("main", Option.some(first), change()),
    "a tree after an absent path is removed": (remote, _, at) =>
      remote.treeAfter(Option.some(at), "data", [remove("data/none.json")]),
    "a tree after an absent blob is linked": (remote, _, at) =>
      remote.treeAfter(Option.some(at), "data", [link("data/c.json", nowhere)]),
    "a file after changes, as a directory": (remote, _, at) =>
      remote.treeAfter(Option.some(at), "data/a.json", []),
    "the head of a name that is not a branch's": (remote) => remote.head("a..b"),
    "the snapshot of such a name": (remote) => remote.snapshot("a..b").head,
    "deleting such a branch": (remote) => remote.deleteBranch("a..b"),
    "advancing such a branch": (remote, first, second) => remote.advance("a..b", first.commit, second.commit),
    "creating a branch at a missing commit": (remote) => remote.createBranch("new", nowhere),
    "creating a branch at a tree": (remote, first) => remote.createBranch("new", first.tree),
    "creating a branch that is there": (remote, first) => remote.createBranch("main", first.commit),
    "creating a branch below a branch": (remote, first) => remote.createBranch("main/x", first.commit),
    "creating a branch above a branch": (remote, first) =>
      Effect.zipRight(remote.createBranch("a/b", first.commit), remote.createBranch("a", first.commit)),
    "a first commit on a branch below a branch": (remote) =>
      remote.commit("main/x", Option.none(), change(put("data/a.json"))),
    "creating a branch where one was above it": (remote, first) =>
      Effect.all([
        remote.createBranch("a/b", first.commit),
        remote.deleteBranch("a/b"),
        remote.createBranch("a", first.commit)
      ]),
    "the difference of thousands of directories": (remote, first, second) =>
      Effect.gen(function* () {
        const path = "a/".repeat(4_000)
        const deep = yield* remote.commit("main", Option.some(second), change(put(`${path}b`)))
        const changed = { ...put(`${path}b`), content: new Uint8Array() }
        const deeper = yield* remote.commit("main", Option.some(deep), change(changed, put(`${path}c`)))
        const found = [
          yield* remote.diff(Option.some(first), deep),
          yield* remote.diff(Option.some(deep), deeper),
          (yield* remote.tree(deeper, "", { recursive: true })).pipe(Option.map(({ entries }) => entries))
        ]
        return JSON.stringify(found).length
      }),
    "advancing to a missing commit": (remote, _, at) => remote.advance("main", at.commit, nowhere),
    "advancing backwards": (remote, first, at) => remote.advance("main", at.commit, first.commit),
    "advancing an absent branch": (remote, first, at) => remote.advance("none", first.commit, at.commit),
    "the tree of a missing commit": (remote) => remote.tree(nowhere, ""),
    "a file of a missing commit": (remote) => remote.file(nowhere, "a"),
    "the difference from a missing commit": (remote, first) => remote.diff(Option.some(nowhere), first),
    "whether a missing commit is its own ancestor": (remote) => remote.isAncestor(nowhere, nowhere),
    "a blob that is missing": (remote, first) =>
      Stream.runCollect(remote.blobs(first, [{ path: "data/a.json", oid: nowhere }])),
    "what a tree says of itself as a commit": (remote, first) => remote.commitInfo(first.tree),
    "a tree's id as a revision": (remote, first) => remote.resolve(first.tree),
    "a branch by its whole name": (remote) => remote.resolve("refs/heads/main^"),
    "a name below refs": (remote) => remote.resolve("heads/main"),
    "a directory that no tree can hold": (remote, first) => remote.tree(first, "data//"),
    "the difference below a file": (remote, first, second) =>
      remote.diff(Option.some(first), second, { under: "data/a.json" }),
    "the whole tree": (remote, _, second) => remote.tree(second, "", { recursive: true })
  }

  /** Each answer or error, in a new repository. */
  const answers = (layer: (typeof remotes)[number][1]) =>
    Effect.forEach(Object.entries(questions), ([question, ask]) =>
      Effect.gen(function* () {
        const remote = yield* connect(layer)
        const empty = yield* remote.probe("main")
        const first = yield* remote.commit("main", Option.none(), change(put("data/a.json")))
        const second = yield* remote.commit("main", Option.some(first), change(put("data/b.json")))
        const answer = yield* Effect.either(ask(remote, first, second))
        return [
          question,
          empty,
          Either.isRight(answer)
            ? JSON.stringify(answer.right, (_, value) => (value instanceof Map ? [...value] : value))
            : String(answer.left)
        ] as const
      })
    )

  it.scopedLive("whatever they are asked, with the same errors", () =>
    Effect.gen(function* () {
      const [inMemory, onDisk] = yield* Effect.forEach(remotes, ([, layer]) => answers(layer)).pipe(
        Effect.withClock(standingAt(1_700_000_000_000))
      )
      assert.deepStrictEqual(inMemory, onDisk)
      const refused = inMemory!.filter(([, , answer]) => answer.includes("Error: "))
      assert.isAbove(refused.length, 15)
    })
  )
})

describe.each(remotes)(
  "a branch of %s that is moved while a commit of this process is on its way",
  (_name, layer) => {
    it.scopedLive("moves after that commit, as if it had been asked for later", () =>
      Effect.gen(function* () {
        const remote = yield* connect(layer)
        const commit = (path: string) => ({ message: path, changes: [put(path)] })
        const first = yield* remote.commit("main", Option.none(), commit("a"))
        yield* remote.createBranch("work", first.commit)
        const work = yield* remote.commit("work", Option.some(first), commit("b"))
        const building = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const next = remote.commitNext("main", () =>
          Effect.as(Effect.zipRight(Deferred.succeed(building, undefined), Deferred.await(gate)), {
            commit: Option.some(commit("c")),
            result: undefined
          })
        )
        const committing = yield* Effect.fork(Effect.either(next))
        yield* Deferred.await(building)
        const advancing = yield* Effect.fork(Effect.either(remote.advance("main", first.commit, work.commit)))
        yield* Effect.repeatN(Effect.yieldNow(), 10)
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual((yield* Fiber.join(committing))._tag, "Right")
        const advanced = yield* Fiber.join(advancing)
        assert.strictEqual(Either.isLeft(advanced) ? advanced.left._tag : "done", "RefMoved")
      })
    )
  }
)

const everywhere = [...remotes, ...hosted]

describe("every remote refuses the same names, with the same error", () => {
  const told = (ask: (remote: GitRemoteService) => Effect.Effect<unknown, unknown>) =>
    Effect.forEach(everywhere, ([, layer]) =>
      Effect.flatMap(connect(layer), (remote) => Effect.either(ask(remote)))
    )
  const isRefused = (
    answers: ReadonlyArray<Either.Either<unknown, unknown>>,
    which: string,
    words = /^ValidationError: /
  ) => {
    const errors = answers.map((answer) => {
      const error = Either.isLeft(answer) ? answer.left : undefined
      return error instanceof Error && "_tag" in error ? `${error._tag}: ${error.message}` : "taken"
    })
    assert.strictEqual(new Set(errors).size, 1, `${which}: ${errors.join("\n")}`)
    assert.match(errors[0]!, words, which)
  }

  it.scopedLive(
    "of roots and branches, when the store is opened, and of paths",
    () =>
      Effect.gen(function* () {
        const open = (options: Parameters<typeof Store.make>[0]) => (remote: GitRemoteService) =>
          Effect.provideService(Store.make(options), GitRemote, remote)
        for (const root of ["git~1", ".git.", "a/.GIT ", "x/.git::$INDEX_ALLOCATION", ".g\u200cit"]) {
          isRefused(yield* told(open({ root })), root)
          isRefused(yield* told((remote) => commitOf(remote, "Ada", `${root}/a.json`)), `a file in ${root}`)
        }
        for (const branch of ["b".repeat(260), "ä".repeat(123), "HEAD", "refs/heads/x", "a..b"]) {
          const words = /^ValidationError: branch is not the name of a branch: /
          isRefused(yield* told(open({ branch })), branch, words)
          isRefused(yield* told((remote) => commitOf(remote, "Ada", "a", branch)), `a commit on ${branch}`)
        }
      }),
    60_000
  )

  it.scopedLive("and take the longest branch that there is", () =>
    Effect.gen(function* () {
      for (const answer of yield* told((remote) => commitOf(remote, "Ada", "a", "b".repeat(244)))) {
        assert.isTrue(Either.isRight(answer), String(Either.isLeft(answer) ? answer.left : ""))
      }
    })
  )
})

describe("a clock that is far off", () => {
  it.scopedLive("writes nothing, and says so", () =>
    Effect.gen(function* () {
      for (const [name, layer] of remotes) {
        const remote = yield* connect(layer)
        const notes = (yield* Effect.provideService(Store.make({}), GitRemote, remote)).collection("notes")
        for (const millis of [253_402_300_800_000, 8.64e15, 1e18, -1, Number.NaN]) {
          const clock = Effect.withClock(standingAt(millis))
          for (const write of [notes.insert({ n: 1 }), commitOf(remote, "Ada")]) {
            const refused = yield* Effect.flip(clock(write as Effect.Effect<unknown, Error>))
            assert.match(refused.message, /clock/, `${name} at ${millis}`)
          }
        }
        yield* notes.insert({ n: 1 })
        assert.strictEqual(yield* notes.count, 1)
      }
    })
  )
})
