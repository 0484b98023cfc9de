import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer, it as plain } from "@effect/vitest"
import { Effect, Exit, Option, Schedule, TestServices } from "effect"
import * as Faults from "../../../src/http/host/repository/Faults.js"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const put = (repo: string, path: string, more: object = {}) =>
  Rest.request("PUT", `/repos/local/${repo}/contents/${path}`, {
    body: { message: "m", content: "", ...more }
  })

layer(host(), { timeout: 60_000 })("faults", (it) => {
  it.effect("errors occur before or after the effect, as often as configured", () =>
    Effect.gen(function* () {
      const { faults } = yield* HostServer
      yield* Rest.repository("errors", { "a.json": "{}\n" })
      const error = (when: "before" | "after") => ({
        rules: [{ method: "PUT", times: 1, fault: { _tag: "Error" as const, status: 502, when } }]
      })
      yield* faults.set(error("before"))
      assert.strictEqual((yield* put("errors", "b.json")).status, 502)
      assert.strictEqual((yield* Rest.get("/repos/local/errors/contents/b.json")).status, 404)
      yield* faults.set(error("after"))
      assert.strictEqual((yield* put("errors", "b.json")).status, 502)
      assert.strictEqual((yield* Rest.get("/repos/local/errors/contents/b.json")).status, 200)
      assert.strictEqual((yield* put("errors", "c.json")).status, 201)
      yield* faults.set({})
    })
  )

  it.effect("connections are reset before or after the effect", () =>
    Effect.gen(function* () {
      const { faults } = yield* HostServer
      yield* Rest.repository("resets", { "a.json": "{}\n" })
      for (const when of ["before", "after"] as const) {
        yield* faults.set({ rules: [{ method: "PUT", fault: { _tag: "Reset", when } }] })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(put("resets", `${when}.json`))))
      }
      yield* faults.set({})
      assert.strictEqual((yield* Rest.get("/repos/local/resets/contents/before.json")).status, 404)
      assert.strictEqual((yield* Rest.get("/repos/local/resets/contents/after.json")).status, 200)
    })
  )

  it.effect("a race makes each kind of write lose, in its own words", () =>
    Effect.gen(function* () {
      const { faults } = yield* HostServer
      const head = (yield* Rest.repository("races", { "a.json": "{}\n" }))!
      const race = faults.set({ rules: [{ path: "/", times: 1, fault: { _tag: "Race" } }] })
      yield* race
      const contents = yield* put("races", "b.json")
      assert.strictEqual(contents.status, 409)
      const [, actual, expected] = /^is at ([0-9a-f]{40}) but expected ([0-9a-f]{40})$/.exec(
        contents.body.message
      )!
      assert.strictEqual(expected, head.commit)
      assert.strictEqual((yield* Rest.get("/repos/local/races/git/ref/heads/main")).body.object.sha, actual)
      const next = (yield* Rest.request("POST", "/repos/local/races/git/commits", {
        body: { message: "n", tree: head.tree, parents: [actual] }
      })).body.sha
      yield* race
      const moved = yield* Rest.request("PATCH", "/repos/local/races/git/refs/heads/main", {
        body: { sha: next }
      })
      assert.deepStrictEqual([moved.status, moved.body.message], [422, "Update is not a fast forward"])
      const at = (yield* Rest.get("/repos/local/races/git/ref/heads/main")).body.object.sha
      yield* race
      const commit = yield* Rest.graphql(
        `mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }`,
        {
          input: {
            branch: { repositoryNameWithOwner: "local/races", branchName: "main" },
            expectedHeadOid: at,
            message: { headline: "x" },
            fileChanges: { additions: [{ path: "x", contents: "" }] }
          }
        }
      )
      assert.strictEqual(commit.errors?.[0].type ?? "no error", "STALE_DATA")
      yield* faults.set({})
    })
  )

  it.effect("reads by branch lag behind, reads by commit do not", () =>
    Effect.gen(function* () {
      const { faults } = yield* HostServer
      yield* Rest.repository("stale", { "a.json": "{}\n" })
      yield* faults.set({ staleSeconds: 3600 })
      const made = yield* put("stale", "b.json")
      assert.strictEqual(made.status, 201)
      const read = (ref: string) =>
        Effect.map(Rest.get(`/repos/local/stale/contents/b.json?ref=${ref}`), ({ status }) => status)
      assert.strictEqual(yield* read("main"), 404)
      assert.strictEqual((yield* Rest.get("/raw/local/stale/main/b.json")).status, 404)
      assert.strictEqual(yield* read(made.body.commit.sha), 200)
      assert.strictEqual((yield* put("stale", "c.json")).status, 201)
      yield* faults.set({})
      assert.strictEqual(yield* read("main"), 200)
    })
  )

  it.effect("latency delays the response", () =>
    Effect.gen(function* () {
      const { faults } = yield* HostServer
      yield* faults.set({ rules: [{ path: "/user", fault: { _tag: "Latency", millis: 150 } }] })
      const before = performance.now()
      assert.strictEqual((yield* Rest.get("/user")).status, 200)
      assert.isAtLeast(performance.now() - before, 145)
      yield* faults.set({})
    })
  )
})

// A truncated reply does not match GitHub's description.
layer(host({ checked: false }), { timeout: 60_000 })("faults of a response", (it) => {
  it.effect("a response is the one that was given, the half of one, or that of the second delivery", () =>
    Effect.gen(function* () {
      const { faults } = yield* HostServer
      yield* Rest.repository("replies", { "a.json": `${"x".repeat(300)}\n` })
      const meeting = (fault: Faults.Fault, path = "/replies/") =>
        faults.set({ rules: [{ path, times: 1, fault }] })
      yield* meeting({
        _tag: "Reply",
        status: 429,
        headers: { "retry-after": "7" },
        body: { message: "slow" },
        when: "before"
      })
      const limited = yield* put("replies", "b.json")
      assert.deepStrictEqual(
        [limited.status, limited.headers.get("retry-after"), limited.body],
        [429, "7", { message: "slow" }]
      )
      const read = Rest.get("/repos/local/replies/contents/a.json")
      const whole = yield* read
      yield* meeting({ _tag: "Cut", then: "end" })
      const half = yield* read
      assert.strictEqual(half.text, whole.text.slice(0, whole.text.length >> 1))
      yield* meeting({ _tag: "Cut", then: "reset" })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(read)))
      yield* meeting({ _tag: "Cut", then: "silence" })
      assert.isTrue(Option.isNone(yield* Effect.timeoutOption(read, "300 millis")))
      yield* meeting({ _tag: "Twice" })
      const twice = yield* put("replies", "b.json")
      assert.strictEqual(twice.status, 422, "the first delivery wrote it")
      assert.strictEqual((yield* Rest.get("/repos/local/replies/contents/b.json")).status, 200)
      yield* faults.set({})
    }).pipe(TestServices.provideLive)
  )
})

plain.scopedLive("faults of a stand-alone host follow a file", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    const file = `${directory}/faults.json`
    yield* Effect.gen(function* () {
      const faults = yield* Faults.Faults
      assert.isUndefined(faults.faultFor({ method: "GET", url: "/x" }))
      yield* fs.writeFileString(file, `{ "rules": [{ "method": "GET", "fault": { "_tag": "Race" } }] }`)
      yield* Effect.sync(() => faults.faultFor({ method: "GET", url: "/x" })).pipe(
        Effect.repeat({ until: (fault) => fault !== undefined, schedule: Schedule.spaced("5 millis") })
      )
      yield* fs.writeFileString(file, "{ nonsense")
      yield* Effect.sleep("50 millis")
      assert.deepStrictEqual(faults.faultFor({ method: "GET", url: "/x" }), { _tag: "Race" })
    }).pipe(Effect.provide(Faults.layerFile(file, "10 millis")))
  }).pipe(Effect.provide(NodeContext.layer))
)
