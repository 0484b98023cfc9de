import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { Effect, Either, Fiber, Option } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { directory } from "../../store/core/Remotes.js"

it.scopedLive(
  "a failed flush with large followers leaves the repository writable",
  () =>
    Effect.gen(function* () {
      const at = `${yield* directory}/r.git`
      const repository = yield* Engine.open({ directory: at, create: true, durability: "none" })
      const write = (path: string, content: Uint8Array) =>
        repository.commitNext("main", () =>
          Effect.succeed({
            commit: Option.some({ message: path, changes: [{ _tag: "Put" as const, path, content }] }),
            result: path
          })
        )
      const git = (...args: Array<string>) =>
        execFileSync("git", ["--git-dir", at, ...args], { encoding: "utf8" }).trim()
      yield* write("a", new Uint8Array([1]))
      const first = yield* Effect.fork(Effect.either(write("large", randomBytes(40_000_000))))
      yield* Effect.sleep(150)
      // While that one is being packed, three documents of 25 MB are staged behind it.
      const followers = yield* Effect.fork(
        Effect.forEach([1, 2, 3], (n) => Effect.either(write(`f${n}`, randomBytes(25_000_000))), {
          concurrency: "unbounded"
        })
      )
      yield* Effect.sleep(300)
      // Somebody pushes.
      const tree = git("rev-parse", "main^{tree}")
      const parent = git("rev-parse", "main")
      const other = execFileSync(
        "git",
        [
          "--git-dir",
          at,
          "-c",
          "user.name=x",
          "-c",
          "user.email=x@x",
          "commit-tree",
          tree,
          "-p",
          parent,
          "-m",
          "pushed"
        ],
        { encoding: "utf8" }
      ).trim()
      git("update-ref", "refs/heads/main", other)
      const again = yield* Effect.timeoutOption(
        Effect.retry(write("small", new Uint8Array([2])), { times: 3 }),
        "10 seconds"
      )
      assert.isTrue(Option.isSome(again), "a small write after it hangs for ever")
      assert.isTrue(Either.isLeft(yield* Fiber.join(first)))
      assert.isTrue((yield* Fiber.join(followers)).every(Either.isLeft))
    }),
  60_000
)
