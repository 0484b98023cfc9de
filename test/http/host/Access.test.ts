import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Tokens } from "../../../src/http/host/access/Tokens.js"
import { HostServer } from "../../support/host/HostServer.js"
import { inEachVersion } from "../../support/host/inEachVersion.js"
import * as Rest from "../../support/host/Rest.js"

const given = [
  {
    token: Redacted.make("reader-token"),
    login: "reader",
    grants: [{ repository: "local/secret", access: "read" as const }]
  },
  {
    token: Redacted.make("writer-token"),
    login: "writer",
    grants: [{ repository: "team/*", access: "write" as const }]
  },
  { token: Redacted.make("other-token"), login: "other", grants: [] }
]

const write = (path: string, token: string | null) =>
  Rest.request("PUT", `/repos/${path}/contents/a.json`, { token, body: { message: "m", content: "" } })

const said = (answer: Rest.RestAnswer) => [answer.status, answer.body?.message]

inEachVersion("access", { tokens: given, createOnFirstUse: true }, (it) => {
  it.effect("what may not be seen does not exist; what may not be changed says why", () =>
    Effect.gen(function* () {
      yield* Rest.repository("secret", { "a.json": "{}\n" }, { private: true })
      yield* Rest.repository("open", { "a.json": "{}\n" }, { private: false })
      const read = (name: string, token: string | null) =>
        Rest.get(`/repos/local/${name}/contents/a.json`, { token })
      const statuses = yield* Effect.forEach([null, "reader-token", "writer-token"], (token) =>
        Effect.forEach(["secret", "open", "none"], (name) =>
          Effect.map(read(name, token), ({ status }) => status)
        )
      )
      assert.deepStrictEqual(statuses, [
        [404, 200, 404],
        [200, 200, 404],
        [404, 200, 404]
      ])
      assert.deepStrictEqual(said(yield* write("local/open", null)), [401, "Requires authentication"])
      const denied = yield* write("local/secret", "reader-token")
      assert.deepStrictEqual(said(denied), [403, "Resource not accessible by personal access token"])
      assert.strictEqual(denied.headers.get("x-accepted-github-permissions"), "contents=write")
      assert.strictEqual((yield* write("local/secret", "writer-token")).status, 404)
      const wrong = yield* Rest.get("/repos/local/open", { token: "wrong" })
      assert.deepStrictEqual(said(wrong), [401, "Bad credentials"])
      const rights = (yield* Rest.get("/repos/local/secret", { token: "reader-token" })).body.permissions
      assert.deepStrictEqual([rights.push, rights.pull], [false, true])
      const listed = (path: string, token: string | null) =>
        Effect.map(Rest.get(path, { token }), ({ body }) => body.map((one: Rest.Json) => one.full_name))
      assert.deepStrictEqual(yield* listed("/user/repos", "reader-token"), ["local/secret"])
      assert.deepStrictEqual(yield* listed("/user/repos", "writer-token"), [])
      assert.deepStrictEqual(yield* listed("/users/local/repos", "reader-token"), ["local/open"])
      assert.deepStrictEqual(yield* listed("/orgs/local/repos", "reader-token"), [
        "local/open",
        "local/secret"
      ])
      assert.deepStrictEqual(yield* listed("/orgs/local/repos", null), ["local/open"])
    })
  )

  it.effect("tokens come as Bearer, as token, and as basic credentials", () =>
    Effect.gen(function* () {
      const { token } = yield* HostServer
      const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`
      const forms = [
        `Bearer ${token}`,
        `bearer ${token}`,
        `token ${token}`,
        basic(`x:${token}`),
        basic(`${token}:`),
        basic(`${token}:x-oauth-basic`)
      ]
      for (const authorization of forms) {
        const answer = yield* Rest.get("/user", { token: null, headers: { authorization } })
        assert.deepStrictEqual([answer.status, answer.body.login], [200, "local"])
      }
      for (const authorization of ["Bearer", "Basic !!", `Digest ${token}`, `Bearer ${token}x`, basic(":")]) {
        assert.strictEqual(
          (yield* Rest.get("/user", { token: null, headers: { authorization } })).status,
          401
        )
      }
      assert.deepStrictEqual(said(yield* Rest.get("/user", { token: null })), [
        401,
        "Requires authentication"
      ])
    })
  )

  it.effect("a repository is made on its first use by a token that may write it, and by no other", () =>
    Effect.gen(function* () {
      const asking = yield* Rest.get("/repos/team/fresh", { token: "writer-token" })
      assert.deepStrictEqual([asking.status, asking.body.size], [200, 0])
      assert.strictEqual((yield* Rest.get("/repos/team/fresh", { token: "reader-token" })).status, 404)
      assert.strictEqual((yield* write("team/fresh", "reader-token")).status, 404)
      assert.strictEqual((yield* write("team/fresh", null)).status, 404)
      assert.strictEqual((yield* write("team/fresh", "writer-token")).status, 201)
      const made = yield* Rest.get("/repos/team/fresh", { token: "writer-token" })
      assert.strictEqual(made.body.private, true)
      assert.strictEqual((yield* Rest.get("/repos/team/fresh", { token: null })).status, 404)
    })
  )

  it.effect("repositories are made once, by who may", () =>
    Effect.gen(function* () {
      const make = (path: string, body: unknown, token?: string) =>
        Rest.request("POST", path, { body, ...(token === undefined ? {} : { token }) })
      const first = yield* make(
        "/orgs/team/repos",
        { name: "made", auto_init: true, description: "d" },
        "writer-token"
      )
      assert.deepStrictEqual(
        [first.status, first.body.full_name, first.body.description],
        [201, "team/made", "d"]
      )
      assert.strictEqual(
        (yield* Rest.get("/repos/team/made/contents/README.md", { token: null })).status,
        200
      )
      const again = yield* make("/orgs/team/repos", { name: "MADE" }, "writer-token")
      assert.deepStrictEqual(said(again), [422, "Repository creation failed."])
      assert.strictEqual(again.body.errors[0].message, "name already exists on this account")
      assert.strictEqual((yield* make("/orgs/team/repos", { name: "x" }, "reader-token")).status, 403)
      for (const name of ["..", ".", "-x"])
        assert.strictEqual((yield* make("/user/repos", { name })).status, 422, name)
    })
  )

  it.effect("the own token lies in a file of its owner alone, further ones as hashes", () =>
    Effect.gen(function* () {
      const { directory, token } = yield* HostServer
      const tokens = yield* Tokens
      const own = join(directory, "host-token")
      assert.strictEqual(statSync(own).mode & 0o777, 0o600)
      assert.strictEqual(readFileSync(own, "utf8").trim(), token)
      const issued = Redacted.value(
        yield* tokens.issue("later", [{ repository: "local/secret", access: "read" }])
      )
      const stored = join(directory, "host-tokens.json")
      assert.strictEqual(statSync(stored).mode & 0o777, 0o600)
      assert.notInclude(readFileSync(stored, "utf8"), issued)
      assert.strictEqual((yield* Rest.get("/user", { token: issued })).body.login, "later")
      assert.strictEqual(yield* tokens.revoke("later"), 1)
      assert.strictEqual((yield* Rest.get("/user", { token: issued })).status, 401)
    })
  )

  it.effect("guesses are counted, and hold up nobody whose token worked before", () =>
    Effect.gen(function* () {
      const ask = (token: string | null) => Rest.get("/user", { token })
      const reader = yield* ask("reader-token")
      assert.strictEqual(reader.status, 200)
      const guesses = yield* Effect.forEach(Array.from({ length: 120 }), (_, n) => ask(`guess-${n}`))
      const refused = guesses.filter(({ status }) => status === 403)
      assert.isAtLeast(refused.length, 20)
      assert.match(refused[0]!.headers.get("retry-after") ?? "", /^[1-9]\d?$/)
      assert.strictEqual((yield* ask("reader-token")).status, 200)
      assert.strictEqual((yield* ask("other-token")).status, 403)
      assert.strictEqual((yield* Rest.get("/zen", { token: null })).status, 200)
    })
  )
})
