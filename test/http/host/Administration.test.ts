import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { assert } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { HostServer } from "../../support/host/HostServer.js"
import { inEachVersion } from "../../support/host/inEachVersion.js"
import * as Rest from "../../support/host/Rest.js"

const tokens = [
  {
    token: Redacted.make("reader-token"),
    login: "reader",
    grants: [{ repository: "local/*", access: "read" as const }]
  }
]

inEachVersion("a repository", { tokens }, (it) => {
  it.effect("is described anew", () =>
    Effect.gen(function* () {
      const { commit } = (yield* Rest.repository("told", { "a.json": "1\n" }))!
      const at = "/repos/local/told"
      yield* Rest.request("POST", `${at}/git/refs`, { body: { ref: "refs/heads/next", sha: commit } })
      const patch = (body: unknown, token?: string | null) =>
        Rest.request("PATCH", at, { body, ...(token === undefined ? {} : { token }) })
      const { body, status } = yield* patch({
        name: "told",
        description: "new",
        private: true,
        default_branch: "next",
        has_wiki: false
      })
      assert.deepStrictEqual(
        [status, body.description, body.private, body.default_branch],
        [200, "new", true, "next"]
      )
      assert.strictEqual((yield* Rest.get(at, { token: null })).status, 404)
      const kept = yield* patch({ visibility: "public" })
      assert.deepStrictEqual([kept.body.description, kept.body.default_branch], ["new", "next"])
      assert.strictEqual((yield* Rest.get(at, { token: null })).status, 200)
      for (const description of ["x".repeat(351), "a\nb"]) {
        const { body, status } = yield* patch({ description })
        assert.deepStrictEqual([status, body.errors[0].field], [422, "description"])
        const made = yield* Rest.request("POST", "/user/repos", { body: { name: "wordy", description } })
        assert.deepStrictEqual([made.status, made.body.errors[0].field], [422, "description"])
      }
      assert.strictEqual((yield* patch({ description: "𝄞".repeat(350) })).status, 200)
      assert.isNull((yield* patch({ description: null })).body.description)
      for (const [change, field] of [
        [{ name: "other" }, "name"],
        [{ archived: true }, "archived"],
        [{ default_branch: "none" }, "default_branch"],
        [{ visibility: "internal" }, "visibility"]
      ] as const) {
        const refused = yield* patch({ description: "not this", ...change })
        assert.deepStrictEqual([refused.status, refused.body.errors[0].field], [422, field])
      }
      assert.strictEqual((yield* patch({ private: true }, null)).status, 401)
      assert.strictEqual((yield* patch({ private: true }, "reader-token")).status, 403)
      const after = (yield* Rest.get(at)).body
      assert.deepStrictEqual([after.description, after.private], [null, false])
    })
  )

  it.effect("keeps what one request changed when another one changes something else at once", () =>
    Effect.gen(function* () {
      yield* Rest.repository("shared", { "a.json": "1\n" })
      const at = "/repos/local/shared"
      const patch = (body: unknown) => Rest.request("PATCH", at, { body })
      for (const description of ["one", "two", "three", "four"]) {
        yield* patch({ private: false })
        const answers = yield* Effect.all([patch({ private: true }), patch({ description })], {
          concurrency: 2
        })
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [200, 200]
        )
        const { body } = yield* Rest.get(at)
        assert.deepStrictEqual([body.private, body.description], [true, description])
        assert.strictEqual((yield* Rest.get(at, { token: null })).status, 404)
      }
    })
  )

  it.effect("does not say that its default branch was changed where Git could not change it", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const { commit } = (yield* Rest.repository("locked", { "a.json": "1\n" }))!
      const at = "/repos/local/locked"
      yield* Rest.request("POST", `${at}/git/refs`, { body: { ref: "refs/heads/next", sha: commit } })
      const lock = `${directory}/repos/local/locked.git/HEAD.lock`
      writeFileSync(lock, "")
      const change = Rest.request("PATCH", at, { body: { default_branch: "next" } })
      assert.strictEqual((yield* change).status, 502)
      rmSync(lock)
      assert.strictEqual((yield* Rest.get(at)).body.default_branch, "main")
      assert.strictEqual((yield* change).body.default_branch, "next")
    })
  )

  it.effect("that cannot be opened hides no other one", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      yield* Rest.repository("readable", { "a.json": "1\n" })
      const unreadable = `${directory}/repos/local/unreadable.git`
      execFileSync("git", ["init", "-q", "--bare", "--object-format=sha256", unreadable])
      const names = (answer: Rest.RestAnswer) => answer.body.map(({ name }: Rest.Json) => name)
      for (const path of ["/user/repos", "/orgs/local/repos", "/users/local/repos"]) {
        const listed = yield* Rest.get(path)
        assert.strictEqual(listed.status, 200, path)
        assert.include(names(listed), "readable")
      }
      const { data, errors } = yield* Rest.graphql(
        `{ viewer { repositories(first: 100) { nodes { name } } repository(name: "readable") { name } } }`
      )
      assert.isUndefined(errors)
      assert.include(
        data.viewer.repositories.nodes.map(({ name }: Rest.Json) => name),
        "readable"
      )
      assert.strictEqual(data.viewer.repository.name, "readable")
      assert.strictEqual((yield* Rest.get("/repos/local/unreadable")).status, 502)
      rmSync(unreadable, { recursive: true })
    })
  )

  it.effect("is removed with permission, completely, and its name is free", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      yield* Rest.repository("gone", { "a.json": "1\n" })
      const remove = (token?: string | null) =>
        Effect.map(
          Rest.request("DELETE", "/repos/local/gone", token === undefined ? {} : { token }),
          ({ status }) => status
        )
      assert.deepStrictEqual([yield* remove(null), yield* remove("reader-token")], [401, 403])
      assert.strictEqual((yield* Rest.get("/repos/local/gone/contents/a.json")).status, 200)
      assert.strictEqual(yield* remove(), 204)
      assert.strictEqual(yield* remove(), 404)
      assert.strictEqual((yield* Rest.get("/repos/local/gone")).status, 404)
      assert.strictEqual((yield* Rest.get("/raw/local/gone/main/a.json")).status, 404)
      assert.notInclude(readdirSync(`${directory}/repos/local`).join(), "gone")
      assert.notInclude(readdirSync(`${directory}/repos/local`).join(), "removing")
      yield* Rest.repository("gone", { "b.json": "1\n" }, { private: true })
      assert.strictEqual((yield* Rest.get("/repos/local/gone/contents/a.json")).status, 404)
      assert.strictEqual((yield* Rest.get("/repos/local/gone/contents/b.json")).status, 200)
    })
  )

  it.effect("is removed after a write that came first; later ones do not find it", () =>
    Effect.gen(function* () {
      const { api, directory, token } = yield* HostServer
      yield* Rest.repository("busy", { "a.json": "1\n" })
      const path = "/repos/local/busy/contents/b.json"
      const body = JSON.stringify({ message: "m", content: Rest.base64("2\n") })
      // A half-sent body keeps the write running.
      const sent = request(`${api}${path}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${token}`, "user-agent": "test", "content-length": body.length }
      })
      const answer = new Promise<number | undefined>((resolve, reject) =>
        sent.on("response", ({ statusCode }) => resolve(statusCode)).on("error", reject)
      )
      yield* Effect.promise(() => new Promise((resolve) => sent.write(body.slice(0, 20), resolve)))
      yield* Rest.get("/rate_limit")
      const removed = yield* Effect.fork(Rest.request("DELETE", "/repos/local/busy"))
      yield* Rest.get("/repos/local/busy").pipe(Effect.repeat({ until: ({ status }) => status === 404 }))
      assert.strictEqual((yield* Rest.request("PUT", path, { body })).status, 404)
      sent.end(body.slice(20))
      assert.strictEqual(yield* Effect.promise(() => answer), 201)
      assert.strictEqual((yield* Fiber.join(removed)).status, 204)
      assert.isFalse(existsSync(`${directory}/repos/local/busy.git`))
    })
  )

  it.effect("is removed when a running clone has finished", () =>
    Effect.gen(function* () {
      const { directory, token, url } = yield* HostServer
      const { commit } = (yield* Rest.repository("cloned", { "a.bin": randomBytes(64_000_000) }))!
      const line = (text: string) => (text.length + 4).toString(16).padStart(4, "0") + text
      const asked = `${line(`want ${commit} no-progress\n`)}0000${line("done\n")}`
      // A client that reads only the headers keeps the Git process running.
      const transfer = yield* Effect.promise(
        () =>
          new Promise<{ readonly rest: () => Promise<number> }>((resolve, reject) => {
            const sent = request(
              `${url}/local/cloned.git/git-upload-pack`,
              {
                method: "POST",
                headers: {
                  authorization: `Bearer ${token}`,
                  "content-type": "application/x-git-upload-pack-request"
                }
              },
              (answer) =>
                resolve({
                  rest: async () => {
                    let size = 0
                    for await (const chunk of answer) size += chunk.length
                    return size
                  }
                })
            )
            sent.on("error", reject)
            sent.end(asked)
          })
      )
      const removed = yield* Effect.fork(Rest.request("DELETE", "/repos/local/cloned"))
      yield* Rest.get("/repos/local/cloned").pipe(Effect.repeat({ until: ({ status }) => status === 404 }))
      assert.isTrue(existsSync(`${directory}/repos/local/cloned.git`))
      assert.strictEqual(
        execFileSync("git", ["-C", `${directory}/repos/local/cloned.git`, "rev-parse", "main"], {
          encoding: "utf8"
        }).trim(),
        commit
      )
      assert.isAbove(yield* Effect.promise(transfer.rest), 64_000_000)
      assert.strictEqual((yield* Fiber.join(removed)).status, 204)
      assert.isFalse(existsSync(`${directory}/repos/local/cloned.git`))
    })
  )
})
