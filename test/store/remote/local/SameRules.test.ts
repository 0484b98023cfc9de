import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Either, Option } from "effect"
import { GitRemote, type GitRemoteService } from "../../../../src/store/remote/GitRemote.js"
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

const everywhere = [...remotes, ...hosted]

describe("every remote refuses the same names, with the same error", () => {
  const told = (ask: (remote: GitRemoteService) => Effect.Effect<unknown, unknown>) =>
    Effect.forEach(everywhere, ([, layer]) =>
      Effect.flatMap(connect(layer), (remote) => Effect.either(ask(remote)))
    )
  const isRefused = (answers: ReadonlyArray<Either.Either<unknown, unknown>>, which: string) => {
    const errors = answers.map((answer) => {
      const error = Either.isLeft(answer) ? answer.left : undefined
      return error instanceof Error && "_tag" in error ? `${error._tag}: ${error.message}` : "taken"
    })
    assert.strictEqual(new Set(errors).size, 1, `${which}: ${errors.join("\n")}`)
    assert.match(errors[0]!, /^ValidationError: /, which)
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
          isRefused(yield* told(open({ branch })), branch)
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
