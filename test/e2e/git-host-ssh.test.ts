import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Option } from "effect"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as Store from "../../src/store/Store.js"
import { installGitolite, isGitoliteInstalled } from "../support/git/GitServers.js"
import * as SshServer from "../support/git/SshServer.js"

describe.skipIf(!SshServer.isInstalled)(
  `a store by ssh${SshServer.isInstalled ? "" : " (no sshd on this machine)"}`,
  () => {
    const open = (options: GitHost.GitHostOptions) =>
      Effect.flatMap(GitHost.scoped(options), (remote) =>
        Effect.provideService(Store.make(), GitRemote, remote)
      )

    it.scopedLive("is written by many at once, and survives a dropped connection", () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make("AcceptEnv GIT_PROTOCOL")
        const url = server.create("many.git", "receive.fsckObjects=true")
        const [one, other] = [yield* open({ url, ssh: server.ssh }), yield* open({ url, ssh: server.ssh })]
        yield* one.collection("people").insert({ n: 0 }, { id: "first" })
        yield* Effect.forEach(
          Array.from({ length: 24 }, (_, n) => n),
          (n) => (n % 2 === 0 ? one : other).collection("people").insert({ n }, { id: `p${n}` }),
          { concurrency: "unbounded" }
        )
        const writing = yield* Effect.fork(one.collection("people").update("first", { n: 1 }))
        const serving = () =>
          spawnSync("pgrep", ["-f", `git-receive-pack.*${server.directory}`], {
            encoding: "utf8"
          }).stdout.trim()
        yield* Effect.repeat(Effect.sleep(1), { until: () => serving() !== "", times: 2_000 })
        for (const pid of serving().split("\n")) {
          yield* Effect.ignore(Effect.try(() => process.kill(Number(pid), "SIGKILL")))
        }
        yield* Effect.exit(Fiber.join(writing))
        const { _rev, n } = Option.getOrThrow(yield* other.collection("people").get("first"))
        assert.include(["1 0", "2 1"], `${_rev} ${String(n)}`)
        assert.strictEqual((yield* other.collection("people").list()).length, 25)
        assert.strictEqual(server.git("many.git", "fsck", "--strict", "--no-dangling"), "")
      })
    )

    it.scopedLive(
      "says what ssh says: an unknown host, a key that is not taken, a repository that is not there",
      () =>
        Effect.gen(function* () {
          const server = yield* SshServer.make()
          const url = server.create("data.git")
          const list = (options: GitHost.GitHostOptions) =>
            Effect.flip(Effect.flatMap(open(options), (store) => store.collection("people").list()))
          const unknown = yield* list({ url, ssh: server.unknowing })
          assert.match(String(unknown), /AuthError.*Host key verification failed/s)
          const stranger = yield* list({ url, ssh: server.stranger })
          assert.match(String(stranger), /AuthError.*Permission denied/s)
          const [took, missing] = yield* Effect.timed(list({ url: `${url}x`, ssh: server.ssh }))
          assert.match(String(missing), /NotFoundError.*does not appear to be a git repository/s)
          assert.isBelow(Duration.toSeconds(took), 20)
        })
    )

    it.scopedLive("is read and written where sshd lets no version of the protocol be asked for", () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make()
        const url = server.create("plain.git")
        const people = (yield* open({ url, ssh: server.sharing })).collection("people")
        yield* people.insert({ n: 0 }, { id: "first" })
        const theirs = (yield* open({ url, ssh: server.ssh })).collection("people")
        yield* theirs.update("first", { n: 1 })
        yield* people.update("first", { n: 2 })
        assert.strictEqual((yield* theirs.history("first")).length, 3)
      })
    )

    it.scopedLive("takes a bounded part of an endless response", () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make("AcceptEnv GIT_PROTOCOL")
        const url = server.create("endless.git")
        server.force(`printf '000eversion 2\\n0000'; exec yes '0035shallow ${"a".repeat(40)}'`)
        const store = yield* open({ url, ssh: server.ssh, maxFetch: 1024 ** 2 })
        const before = process.memoryUsage().rss
        assert.match(String(yield* Effect.flip(store.collection("people").list())), /more than 64 MiB/)
        const pinned = Effect.flatMap(store.at("1".repeat(40)), (view) => view.collection("people").list())
        assert.match(String(yield* Effect.flip(pinned)), /more than 1048576 bytes/)
        assert.isBelow((process.memoryUsage().rss - before) / 1024 ** 2, 512)
      })
    )

    it.live.skipIf(!isGitoliteInstalled)(
      `is kept by gitolite3${isGitoliteInstalled ? "" : " (not on this machine)"}`,
      () =>
        Effect.gen(function* () {
          const server = yield* SshServer.make("AcceptEnv GIT_PROTOCOL")
          installGitolite(server)
          const open = (name: string) =>
            Effect.flatMap(GitHost.scoped({ url: server.addressOf(name), ssh: server.ssh }), (remote) =>
              Effect.provideService(Store.make(), GitRemote, remote)
            )
          const [one, other] = [yield* open("testing"), yield* open("testing")]
          yield* one.collection("people").insert({ n: 0 }, { id: "first" })
          yield* other.collection("people").update("first", { n: 1 })
          yield* one.transaction({}, (tx) => tx.collection("people").insert({ n: 2 }, { id: "second" }))
          assert.deepStrictEqual(yield* other.collection("people").list(), ["first", "second"])
          const refused = yield* Effect.flip(
            Effect.flatMap(open("nobody/may"), (store) => store.collection("people").list())
          )
          assert.match(String(refused), /DENIED/)
          assert.strictEqual(
            server.git("gitolite/repositories/testing.git", "fsck", "--strict", "--no-dangling"),
            ""
          )
        }).pipe(Effect.scoped)
    )

    it.scopedLive("leaves no process behind when it is interrupted or closed", () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make()
        const url = server.create("ended.git")
        const clients = () =>
          spawnSync("pgrep", ["-f", `^ssh .*${server.directory}`], { encoding: "utf8" }).stdout.trim()
        yield* Effect.scoped(
          Effect.flatMap(open({ url, ssh: server.ssh }), (store) =>
            store.collection("people").insert({ n: 0 })
          )
        )
        assert.strictEqual(clients(), "")
        const store = yield* open({ url, ssh: server.ssh })
        const reading = yield* Effect.fork(store.collection("people").list())
        yield* Effect.repeat(Effect.sleep(1), { until: () => clients() !== "", times: 5_000 })
        yield* Fiber.interrupt(reading)
        assert.strictEqual(clients(), "")
      })
    )
  }
)
