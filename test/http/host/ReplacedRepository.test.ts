import { execFileSync } from "node:child_process"
import { renameSync, rmSync, writeFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

/** The anonymous view of a repository: a file of the first and a file of the second one. */
const seen = (name: string) =>
  Effect.forEach(["first", "second"], (file) =>
    Effect.map(Rest.get(`/repos/local/${name}/contents/${file}`, { token: null }), ({ status }) => status)
  )

layer(host(), { timeout: 60_000 })("a repository that is changed by hand", (it) => {
  it.effect("is private when another one was put in the place of a public one", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const at = (name: string) => `${directory}/repos/local/${name}.git`
      yield* Rest.repository("place", { first: "1" }, { private: false })
      yield* Rest.repository("secret", { second: "2" }, { private: true })
      assert.deepStrictEqual(yield* seen("place"), [200, 404])
      execFileSync("git", ["clone", "-q", "--bare", at("secret"), at("copy")])
      rmSync(at("place"), { recursive: true })
      renameSync(at("copy"), at("place"))
      assert.deepStrictEqual(yield* seen("place"), [404, 404])
      assert.strictEqual((yield* Rest.get("/repos/local/place/contents/second")).status, 200)
      assert.strictEqual((yield* Rest.get("/repos/local/place/contents/first")).status, 404)
    })
  )

  it.effect("is as private as its file says now", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      yield* Rest.repository("told", { first: "1" }, { private: false })
      assert.deepStrictEqual(yield* seen("told"), [200, 404])
      const settings = { private: true, description: "mine", createdAt: "2020-01-01T00:00:00Z" }
      writeFileSync(`${directory}/repos/local/told.git/chainstore-host.json`, JSON.stringify(settings))
      assert.deepStrictEqual(yield* seen("told"), [404, 404])
      assert.strictEqual((yield* Rest.get("/repos/local/told")).body.description, "mine")
    })
  )
})
