import { chownSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { ValidationError } from "../../src/domain/errors/StoreError.js"
import * as Tokens from "../../src/http/host/access/Tokens.js"
import { commandLine } from "./CommandLine.js"

describe("the tokens of the host", () => {
  it.scopedLive("are created, listed and deleted while the host runs", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const host = Context.get(
        yield* Layer.build(Layer.provide(Tokens.layer({ directory }), NodeContext.layer)),
        Tokens.Tokens
      )
      const until = (isMet: () => boolean) =>
        Effect.repeat(Effect.delay(Effect.sync(isMet), "50 millis"), { until: (met) => met }).pipe(
          Effect.timeout("10 seconds")
        )
      const loginOf = (token: string) => Option.getOrUndefined(host.principal(token))?.login
      const file = join(directory, "host-tokens.json")

      assert.deepStrictEqual((yield* call(["token"])).json(), [])
      const made = yield* call([
        "token",
        "ann",
        "--read",
        "local/*",
        "--read",
        "team/site",
        "--write",
        "me/x"
      ])
      const { token, ...shown } = made.json()
      assert.deepStrictEqual(shown, {
        login: "ann",
        grants: [
          { repository: "local/*", access: "read" },
          { repository: "team/site", access: "read" },
          { repository: "me/x", access: "write" }
        ]
      })
      assert.match(token, /^chs_[\w-]{40}$/)
      assert.notInclude(readFileSync(file, "utf8"), token)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      yield* until(() => loginOf(token) === "ann")

      const other = (yield* call(["token", "bob", "--write", "*"], { terminal: true })).out.trim()
      yield* until(() => loginOf(other) === "bob")
      assert.deepStrictEqual(
        (yield* call(["token"])).json().map(({ login }: { login: string }) => login),
        ["ann", "bob"]
      )
      assert.include((yield* call(["token"], { terminal: true })).out, "local/*, team/site")

      // An edit by hand that cannot be read revokes nothing.
      const before = readFileSync(file, "utf8")
      writeFileSync(file, "[")
      const unread = yield* call(["token", "eve", "--read", "*"])
      assert.deepStrictEqual([unread.code, readFileSync(file, "utf8")], [2, "["])
      assert.include(unread.err, file)
      yield* Effect.sleep("1500 millis")
      assert.strictEqual(loginOf(token), "ann")
      writeFileSync(file, before)

      assert.deepStrictEqual((yield* call(["token", "ANN", "--delete"])).json(), { login: "ANN", deleted: 1 })
      yield* until(() => loginOf(token) === undefined)
      assert.strictEqual(loginOf(other), "bob")
      rmSync(file)
      yield* until(() => loginOf(other) === undefined)
    })
  )

  it.scopedLive(
    "that the host has stored are valid, also if their file is damaged before it is read again",
    () =>
      Effect.gen(function* () {
        const { call, directory } = yield* commandLine
        const file = join(directory, "host-tokens.json")
        const fileSystem = yield* FileSystem.FileSystem
        let stored = ""
        const damaging = {
          ...fileSystem,
          rename: (from: string, to: string) =>
            Effect.map(fileSystem.rename(from, to), () => {
              if (to !== file) return
              stored = readFileSync(file, "utf8")
              writeFileSync(file, "[")
            })
        }
        const layer = Layer.fresh(Tokens.layer({ directory })).pipe(
          Layer.provide(Layer.succeed(FileSystem.FileSystem, damaging)),
          Layer.provide(NodeContext.layer)
        )
        const host = Context.get(yield* Layer.build(layer), Tokens.Tokens)
        const token = Redacted.value(yield* host.issue("ann", [{ repository: "*", access: "read" }]))
        assert.isTrue(Option.isSome(host.principal(token)))

        // A host that starts has no tokens to keep.
        const failure = yield* Effect.flip(Layer.build(layer))
        assert.instanceOf(failure, ValidationError)
        assert.include(failure.message, file)
        assert.include(failure.hint, "move it away")
        const read = yield* call(["token"])
        assert.deepStrictEqual([read.code, read.err.includes("move it away")], [2, true])

        writeFileSync(file, stored)
        yield* Effect.sleep("1500 millis")
        assert.isTrue(Option.isSome(host.principal(token)))
        assert.strictEqual(yield* host.revoke("ann"), 1)
        assert.isTrue(Option.isNone(host.principal(token)))
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("that are created at once are all kept", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const logins = Array.from({ length: 12 }, (_, n) => `user-${n}`)
      yield* Effect.forEach(logins, (login) => call(["token", login, "--read", "*"]), {
        concurrency: "unbounded"
      })
      const kept = (yield* call(["token"])).json().map(({ login }: { login: string }) => login)
      assert.sameMembers(kept, logins)
    })
  )

  it.scopedLive.skipIf(process.getuid?.() !== 0)(
    "that root changes stay those of the directory's owner",
    () =>
      Effect.gen(function* () {
        const { call, directory } = yield* commandLine
        const file = join(directory, "host-tokens.json")
        chownSync(directory, 1234, 2345)
        for (const login of ["ann", "bob"]) {
          yield* call(["token", login, "--read", "*"])
          const { gid, mode, uid } = statSync(file)
          assert.deepStrictEqual([uid, gid, mode & 0o777], [1234, 2345, 0o600])
        }
      })
  )

  it.scopedLive("are not created by a wrong command, in a missing directory or beside another process", () =>
    Effect.gen(function* () {
      const { call, directory } = yield* commandLine
      const wrong = [
        [["token", "--read", "*"], "chainstore token LOGIN"],
        [["token", "--delete"], "chainstore token LOGIN"],
        [["token", "ann"], "--read or --write"],
        [["token", "ann", "--delete", "--read", "*"], "leave out --read"],
        [["token", "ann", "--read", "site"], "owner/name"],
        [["token", "ann", "--write", "*/site"], "owner/name"],
        [["token", "a b", "--read", "*"], "letters, digits and hyphens"]
      ] as const
      for (const [line, hint] of wrong) {
        const { code, err } = yield* call(line)
        assert.deepStrictEqual([code, err.includes(hint)], [2, true], `${line.join(" ")}: ${err}`)
      }
      assert.strictEqual((yield* call(["token", "ann", "--delete"])).code, 3)

      const environment = { CHAINSTORE_DATA: join(directory, "missing") }
      const missing = yield* call(["token", "ann", "--read", "*"], { environment })
      assert.deepStrictEqual([missing.code, missing.err.includes("CHAINSTORE_DATA")], [3, true])

      writeFileSync(join(directory, "host-tokens.json.lock"), "")
      const locked = yield* call(["token", "ann", "--read", "*"])
      assert.deepStrictEqual([locked.code, locked.err.includes("host-tokens.json.lock")], [7, true])
      rmSync(join(directory, "host-tokens.json.lock"))
      assert.deepStrictEqual((yield* call(["token"])).json(), [])
    })
  )
})
