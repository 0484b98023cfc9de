import { execFile } from "node:child_process"
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
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

  it.effect("no repository is made by a write that is refused", () =>
    Effect.gen(function* () {
      const { directory, url } = yield* HostServer
      const there = () => readdirSync(join(directory, "repos"), { recursive: true }).sort()
      yield* write("team/first", "writer-token")
      const before = there()
      const sha = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
      const refusals = [
        ["DELETE", "git/refs/heads/main", undefined, 409],
        ["PATCH", "git/refs/heads/main", { sha, force: true }, 409],
        ["POST", "git/refs", { ref: "refs/tags/t", sha }, 409],
        ["POST", "git/blobs", { content: "x" }, 409],
        ["POST", "git/trees", { tree: [{ path: "x", mode: "100644", content: "x" }] }, 409],
        ["POST", "git/commits", { message: "m", tree: sha, parents: [] }, 409],
        ["POST", "git/tags", { tag: "t", message: "m", object: sha, type: "tree" }, 409],
        ["POST", "merges", { base: "main", head: "main" }, 404],
        ["PUT", "contents/a", { message: "m" }, 422],
        ["PUT", "contents/a", { message: "m", content: "&" }, 422],
        ["PUT", "contents/.git/b", { message: "m", content: "" }, 422],
        ["PUT", "contents/a", { message: "m", content: "", branch: "a..b" }, 404],
        ["DELETE", "contents/a", { message: "m", sha }, 404],
        ["PATCH", "", { description: "d" }, 404],
        ["DELETE", "", undefined, 404]
      ] as const
      for (const [method, path, body, expected] of refusals) {
        const options = { token: "writer-token", body }
        const at = `/repos/team/refused${path && `/${path}`}`
        const { status } = yield* Rest.request(method, at, options)
        assert.strictEqual(status, expected, `${method} ${path} ${JSON.stringify(body)}`)
        assert.deepStrictEqual(there(), before, `${method} ${path} ${JSON.stringify(body)}`)
      }
      const asked = yield* Rest.graphql(
        `{ repository(owner: "team", name: "refused") { id } }`,
        {},
        { token: "writer-token" }
      )
      const repositoryId = asked.data.repository.id
      const mutations = [
        ["createRef", "CreateRefInput", { repositoryId, name: "refs/tags/t", oid: sha }],
        [
          "updateRefs",
          "UpdateRefsInput",
          { repositoryId, refUpdates: [{ name: "refs/tags/t", afterOid: sha }] }
        ],
        [
          "createCommitOnBranch",
          "CreateCommitOnBranchInput",
          {
            branch: { repositoryNameWithOwner: "team/refused", branchName: "main" },
            expectedHeadOid: "0".repeat(40),
            message: { headline: "m" },
            fileChanges: { additions: [{ path: "a", contents: "" }] }
          }
        ]
      ] as const
      for (const [field, type, input] of mutations) {
        const query = `mutation($input: ${type}!) { ${field}(input: $input) { clientMutationId } }`
        const { errors } = yield* Rest.graphql(query, { input }, { token: "writer-token" })
        assert.isDefined(errors, field)
        assert.deepStrictEqual(there(), before, field)
      }
      const authorization = "Bearer writer-token"
      const advertised = yield* Effect.promise(() =>
        fetch(`${url}/team/refused.git/info/refs?service=git-receive-pack`, { headers: { authorization } })
      )
      assert.strictEqual(advertised.status, 200)
      for (const body of ["garbage", "0000"]) {
        const headers = { authorization, "content-type": "application/x-git-receive-pack-request" }
        const pushed = yield* Effect.promise(() =>
          fetch(`${url}/team/refused.git/git-receive-pack`, { method: "POST", headers, body })
        )
        yield* Effect.promise(() => pushed.text())
        assert.deepStrictEqual(there(), before, body)
      }
    })
  )

  it.effect("a repository to come looks empty, also when temporary files were cleared away", () =>
    Effect.gen(function* () {
      const { repositories } = yield* HostServer
      const writer = { id: "w", login: "w", grants: [{ repository: "team/*", access: "write" as const }] }
      const { git } = yield* repositories.openForRead(writer, "team", "to-come")
      for (const clear of [false, true]) {
        if (clear) rmSync(dirname(git.directory), { recursive: true })
        const asked = yield* Rest.get("/repos/team/to-come", { token: "writer-token" })
        assert.deepStrictEqual([asked.status, asked.body.default_branch], [200, "main"])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("first writes of a repository that come at once are all kept", () =>
    Effect.gen(function* () {
      const { directory, url } = yield* HostServer
      const git = promisify(execFile)
      const remote = `${url.replace("//", "//x:writer-token@")}/team/at-once.git`
      const work = join(directory, "at-once")
      const me = ["-c", "user.name=a", "-c", "user.email=a@b", "-C", work]
      const pushed = Effect.promise(async () => {
        await git("git", ["init", "-q", "-b", "pushed", work])
        await git("git", [...me, "commit", "-q", "--allow-empty", "-m", "m"])
        await git("git", [...me, "push", "-q", remote, "pushed"])
      })
      const put = (name: string, content: string) =>
        Rest.request("PUT", `/repos/team/at-once/contents/${name}`, {
          token: "writer-token",
          body: { message: "m", content, branch: "main" }
        })
      const large = Buffer.alloc(2_000_000, "x").toString("base64")
      const puts = Effect.forEach(["a", "b", "c", "d", "e"], (name) => put(name, name === "e" ? large : ""), {
        concurrency: 5
      })
      const [answers] = yield* Effect.all([puts, Effect.ignore(pushed)], { concurrency: 2 })
      const branches = yield* Effect.map(
        Rest.get("/repos/team/at-once/branches", { token: "writer-token" }),
        ({ body }) => body.map(({ name }: Rest.Json) => name)
      )
      // Writing a file creates a branch only if there is none at all.
      if (branches.includes("main")) {
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [201, 201, 201, 201, 201]
        )
        const files = yield* Rest.get("/repos/team/at-once/contents", { token: "writer-token" })
        assert.deepStrictEqual(
          files.body.map(({ name }: Rest.Json) => name),
          ["a", "b", "c", "d", "e"]
        )
      } else
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [404, 404, 404, 404, 404]
        )
      assert.includeMembers(branches, ["pushed"])
      const left = readdirSync(join(directory, "repos"), { recursive: true, encoding: "utf8" })
      assert.deepStrictEqual(
        left.filter((name) => name.includes("creating")),
        []
      )
    })
  )

  it.effect("repositories are created once, with permission", () =>
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

  it.effect("the owner's token is in a file with mode 0600, other tokens are hashes", () =>
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

  it.effect("wrong tokens are counted, and do not block a token that was accepted before", () =>
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
