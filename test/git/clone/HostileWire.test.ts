import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Fiber, Option } from "effect"
import { ValidationError } from "../../../src/domain/errors/StoreError.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as Store from "../../../src/store/Store.js"
import * as SshServer from "../../support/git/SshServer.js"
import { freePort } from "../../support/git/WebServers.js"

const open = (options: GitHost.GitHostOptions) =>
  Effect.flatMap(GitHost.scoped(options), (remote) => Effect.provideService(Store.make(), GitRemote, remote))

const refusal = (url: string) =>
  Effect.map(Effect.exit(GitHost.scoped({ url })), (exit) =>
    Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
  )

describe("an address of ssh", () => {
  // CONVENTIONS: bad input gets a clear typed error that says what to do.
  it.scopedLive.each(["ssh://git@127.0.0.1/100%/data.git", "ssh://100%@127.0.0.1/data.git"])(
    "with a stray per cent sign is a typed error: %s",
    (url) => Effect.map(refusal(url), (error) => assert.instanceOf(error, ValidationError))
  )

  // docs/git-hosts.md: `url` is "the address that `git clone` takes"; Git blocks a path that is an option of git-upload-pack.
  it.scopedLive("is refused if its path is an option", () =>
    Effect.map(refusal("git@127.0.0.1:--help"), (error) => assert.instanceOf(error, ValidationError))
  )
})

describe.skipIf(!SshServer.isInstalled)("a store by ssh", () => {
  // docs/git-hosts.md: `timeout` is "the longest wait for the beginning of a response, and for each next piece of it".
  it.scopedLive.each([
    ["says nothing", "exec sleep 20"],
    ["stops in the middle", "printf '000eversion 2\\n0000'; exec sleep 20"]
  ])(
    "waits no longer than its timeout for a server that %s",
    ([_, script]) =>
      Effect.gen(function* () {
        const server = yield* SshServer.make("AcceptEnv GIT_PROTOCOL")
        const url = server.create("silent.git")
        server.force(script!)
        const store = yield* open({ url, ssh: server.ssh, timeout: "1 second", maxRetries: 0 })
        const [took, error] = yield* Effect.timed(Effect.flip(store.collection("people").list()))
        assert.match(String(error), /within 1s/)
        assert.isBelow(Duration.toSeconds(took), 15)
      }),
    120_000
  )

  // docs/git-hosts.md: only the outcome of a push is awaited. An interrupted read ends at once, with its process.
  it.scopedLive(
    "can be interrupted while a server does not reply",
    () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make("AcceptEnv GIT_PROTOCOL")
        const url = server.create("interrupted.git")
        server.force(`touch ${server.at("asked")}; exec sleep 20`)
        const store = yield* open({ url, ssh: server.ssh })
        const reading = yield* Effect.fork(store.collection("people").list())
        yield* Effect.repeat(Effect.sleep(10), {
          until: () => fs.existsSync(server.at("asked")),
          times: 1_000
        })
        const [took] = yield* Effect.timed(Fiber.interrupt(reading))
        assert.isBelow(Duration.toSeconds(took), 15)
      }),
    120_000
  )

  // docs/git-hosts.md: "Commits that are not reachable from its refs cannot be read"; this commit is reachable from its branch.
  it.scopedLive(
    "by version 0 reads an earlier commit of its branch after its own writes",
    () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make()
        const url = server.create("past.git")
        const one = (yield* open({ url, ssh: server.ssh })).collection("people")
        yield* one.insert({ n: 0 }, { id: "p" })
        const past = server.git("past.git", "rev-parse", "main")
        yield* one.update("p", { n: 1 })
        yield* one.update("p", { n: 2 })
        const other = yield* open({ url, ssh: server.ssh })
        yield* other.collection("people").update("p", { n: 3 })
        yield* other.collection("people").update("p", { n: 4 })
        const view = yield* other.at(past)
        assert.strictEqual(Option.getOrThrow(yield* view.collection("people").get("p"))["n"], 0)
      }),
    120_000
  )

  // docs/git-hosts.md: "`GitHost` runs the `ssh` program of the machine"; its output is complete here, and stock Git reads it.
  it.scopedLive(
    "does not wait for a helper that the configuration of ssh started",
    () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make("AcceptEnv GIT_PROTOCOL")
        const url = server.create("helped.git")
        const configFile = server.at("helped")
        // Such as an agent that stays in the background and keeps standard error open.
        fs.writeFileSync(
          configFile,
          `Match exec "(setsid sleep 20 > /dev/null &)"\n${fs.readFileSync(server.ssh.configFile, "utf8")}`
        )
        const store = yield* open({
          url,
          ssh: { ...server.ssh, configFile },
          timeout: "10 seconds",
          maxRetries: 0
        })
        assert.deepStrictEqual(yield* store.collection("people").list(), [])
      }),
    120_000
  )

  // docs/git-hosts.md: "An error contains its standard error output"; the hint "check the path" would mislead the user.
  it.scopedLive("reports that the server is unreachable, even if the key file is missing, too", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const server = yield* SshServer.make()
      const url = `ssh://git@127.0.0.1:${port}/data.git`
      const ssh = { ...server.ssh, identityFile: server.at("nothing") }
      const error = yield* Effect.flip(
        Effect.flatMap(open({ url, ssh }), (store) => store.collection("people").list())
      )
      assert.match(String(error), /Connection refused/)
      assert.strictEqual(error._tag, "RemoteError")
    })
  )

  // docs/git-hosts.md: `maxRetries` is "the number of times a request is repeated after a broken connection", 3 by default.
  it.scopedLive(
    "repeats a read if the connection breaks before the server replies",
    () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make("AcceptEnv GIT_PROTOCOL")
        const url = server.create("broken.git")
        const once = server.at("once")
        server.force(
          `[ -e ${once} ] && exec git-shell -c "$SSH_ORIGINAL_COMMAND"; touch ${once}; kill -9 $PPID; sleep 1`
        )
        const store = yield* open({ url, ssh: server.ssh })
        assert.deepStrictEqual(yield* store.collection("people").list(), [])
      }),
    60_000
  )

  // docs/git-hosts.md: as above. A push that was never sent is not written, so its outcome is known.
  it.scopedLive(
    "repeats a push if the connection breaks before the server replies, and otherwise reports it as not written",
    () =>
      Effect.gen(function* () {
        const server = yield* SshServer.make("AcceptEnv GIT_PROTOCOL")
        const url = server.create("pushed.git")
        const broken = server.at("broken")
        server.force(
          `case "$SSH_ORIGINAL_COMMAND" in git-receive-pack*) if [ -e ${broken} ]; then rm ${broken}; kill -9 $PPID; sleep 1; exit; fi;; esac\nexec git-shell -c "$SSH_ORIGINAL_COMMAND"`
        )
        const people = (maxRetries: number) =>
          Effect.map(open({ url, ssh: server.ssh, maxRetries }), (store) => store.collection("people"))
        const [patient, hasty] = [yield* people(3), yield* people(0)]
        yield* patient.insert({}, { id: "a" })
        fs.writeFileSync(broken, "")
        yield* patient.insert({}, { id: "b" })
        assert.isFalse(fs.existsSync(broken))
        yield* hasty.insert({}, { id: "c" })
        fs.writeFileSync(broken, "")
        const error = yield* Effect.flip(hasty.insert({}, { id: "d" }))
        assert.isFalse(fs.existsSync(broken))
        assert.strictEqual(error._tag === "RemoteError" && error.reason, "Unreachable")
        assert.strictEqual(server.git("pushed.git", "rev-list", "--count", "main"), "3")
      }),
    120_000
  )
})
