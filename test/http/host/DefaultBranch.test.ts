import { execFile } from "node:child_process"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const me = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@x",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@x"
}

/** Runs Git against the host, which runs in this process. */
const git = (...args: ReadonlyArray<string>) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve) =>
        execFile("git", args, { timeout: 10_000, env: { ...process.env, ...me } }, (_, out, errors) =>
          resolve(out + errors)
        )
      )
  )

const defaultOf = (name: string) =>
  Effect.map(Rest.get(`/repos/local/${name}`), ({ body }) => body.default_branch)

const made = (name: string) => Rest.request("POST", "/user/repos", { body: { name } })

layer(host(), { timeout: 60_000 })("the default branch", (it) => {
  it.effect("is the first that is written", () =>
    Effect.gen(function* () {
      yield* made("written")
      assert.strictEqual(yield* defaultOf("written"), "main")
      const body = { message: "m", content: "", branch: "trunk" }
      assert.strictEqual(
        (yield* Rest.request("PUT", "/repos/local/written/contents/x", { body })).status,
        201
      )
      assert.strictEqual(yield* defaultOf("written"), "trunk")
      assert.strictEqual((yield* Rest.get("/repos/local/written/contents/x")).status, 200)
    })
  )

  it.effect("is one, of two that are to be the first at once", () =>
    Effect.gen(function* () {
      const { repositories } = yield* HostServer
      const all = { id: "t", login: "t", grants: [{ repository: "*", access: "write" as const }] }
      for (const extra of [{}, { author: { name: "a", email: "a@x", date: "2020-01-01T00:00:00Z" } }]) {
        const name = "author" in extra ? "firsts-dated" : "firsts"
        yield* made(name)
        const { git } = yield* repositories.openForRead(all, "local", name)
        const put = (branch: string) =>
          Rest.request("PUT", `/repos/local/${name}/contents/x`, {
            body: { message: "m", content: "", branch, ...extra }
          })
        // Both exist when a write is possible.
        const asked = yield* git.withExclusiveAccess(
          Effect.gen(function* () {
            const both = yield* Effect.forEach(["one", "two"], (branch) => Effect.fork(put(branch)))
            for (let read = 0; read < 5; read++) yield* defaultOf(name)
            return both
          })
        )
        const answers = yield* Effect.forEach(asked, Fiber.join)
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 404])
        const { body } = yield* Rest.get(`/repos/local/${name}/branches`)
        assert.deepStrictEqual(
          body.map((branch: Rest.Json) => branch.name),
          [yield* defaultOf(name)]
        )
      }
    }).pipe(Effect.scoped)
  )

  it.effect("is the first that is pushed, and stays when more come", () =>
    Effect.gen(function* () {
      const { directory, token, url } = yield* HostServer
      yield* made("pushed")
      const work = `${directory}/work`
      const remote = `${url.replace("//", `//x:${token}@`)}/local/pushed.git`
      yield* git("init", "-q", "-b", "master", work)
      yield* git("-C", work, "commit", "-q", "--allow-empty", "-m", "m")
      yield* git("-C", work, "push", remote, "master")
      assert.strictEqual(yield* defaultOf("pushed"), "master")
      yield* git("-C", work, "push", remote, "master:main", "master:aside")
      assert.strictEqual(yield* defaultOf("pushed"), "master")
      const typed = remote.replace(/\.git$/, "")
      for (const address of [remote, typed, `${typed}/`])
        assert.include(yield* git("ls-remote", "--symref", address, "HEAD"), "ref: refs/heads/master\tHEAD")
      assert.include(
        yield* git("-C", work, "push", remote, ":master"),
        "refusing to delete the current branch"
      )
    })
  )

  it.effect("is not deleted", () =>
    Effect.gen(function* () {
      const head = yield* Rest.repository("kept", { a: "1" })
      yield* Rest.request("POST", "/repos/local/kept/git/refs", {
        body: { ref: "refs/heads/other", sha: head!.commit }
      })
      const refused = yield* Rest.request("DELETE", "/repos/local/kept/git/refs/heads/main")
      assert.deepStrictEqual(
        [refused.status, refused.body.message],
        [422, "Cannot delete the default branch"]
      )
      assert.strictEqual(
        (yield* Rest.request("DELETE", "/repos/local/kept/git/refs/heads/other")).status,
        204
      )
    })
  )

  it.effect("is not deleted by a request that came while another branch was the default", () =>
    Effect.gen(function* () {
      const { commit } = (yield* Rest.repository("contended", { a: "1" }))!
      const at = "/repos/local/contended"
      const ask = (method: string, path: string, body?: object) =>
        Effect.map(
          Rest.request(method, `${at}${path}`, body === undefined ? {} : { body }),
          ({ status }) => status
        )
      for (let round = 0; round < 8; round++) {
        const name = `other-${round}`
        const made = yield* ask("POST", "/git/refs", { ref: `refs/heads/${name}`, sha: commit })
        assert.strictEqual(made, 201)
        const choose = ask("PATCH", "", { default_branch: name })
        // Changing the default branch takes a Git process a moment, during which the deletion arrives.
        const wait = Effect.forEach(Array.from({ length: round % 4 }), () => ask("GET", ""))
        const remove = Effect.zipRight(wait, ask("DELETE", `/git/refs/heads/${name}`))
        const [chosen, deleted] = yield* Effect.all([choose, remove], { concurrency: 2 })
        assert.include(["200 422", "422 204"], `${chosen} ${deleted}`)
        assert.strictEqual(yield* ask("GET", `/branches/${yield* defaultOf("contended")}`), 200)
        assert.strictEqual(yield* ask("PATCH", "", { default_branch: "main" }), 200)
      }
    })
  )

  it.effect("and no other one is called like an id or a whole ref, as on GitHub", () =>
    Effect.gen(function* () {
      const { directory, token, url } = yield* HostServer
      const { commit } = (yield* Rest.repository("named", { "a.json": "1\n" }))!
      const at = "/repos/local/named"
      const remote = `${url.replace("//", `//x:${token}@`)}/local/named.git`
      const bare = `${directory}/repos/local/named.git`
      const { data } = yield* Rest.graphql(`{ repository(owner: "local", name: "named") { id } }`)
      const mutation = (field: string, type: string, input: object) =>
        Rest.graphql(`mutation($input: ${type}!) { ${field}(input: $input) { clientMutationId } }`, {
          input: { repositoryId: data.repository.id, ...input }
        })
      const made = [`heads/${commit}`, `tags/${commit.toUpperCase()}`, "heads/refs/heads/main", "heads/HEAD"]
      for (const short of made) {
        const name = `refs/${short}`
        const body = { ref: name, sha: commit }
        assert.strictEqual((yield* Rest.request("POST", `${at}/git/refs`, { body })).status, 422, name)
        const one = yield* mutation("createRef", "CreateRefInput", { name, oid: commit })
        assert.strictEqual(one.errors?.[0].type, "UNPROCESSABLE", name)
        const all = yield* mutation("updateRefs", "UpdateRefsInput", {
          refUpdates: [{ name, afterOid: commit }]
        })
        assert.strictEqual(all.errors?.[0].type, "UNPROCESSABLE", name)
      }
      const clone = `${directory}/named`
      yield* git("clone", "-q", remote, clone)
      yield* git("-C", bare, "update-ref", `refs/heads/${"b".repeat(40)}`, commit)
      const push = (...refs: ReadonlyArray<string>) => git("-C", clone, "push", remote, ...refs)
      for (const short of made.slice(0, 3))
        assert.include(
          yield* push(`HEAD:refs/${short}`, "HEAD:refs/heads/beside"),
          "pre-receive hook declined"
        )
      const refs = yield* git("-C", bare, "for-each-ref", "--format=%(refname)")
      assert.deepStrictEqual(refs.trim().split("\n"), [`refs/heads/${"b".repeat(40)}`, "refs/heads/main"])
      // Such a branch, for example from another server, can still be pushed to and deleted.
      yield* git("-C", clone, "commit", "-q", "--allow-empty", "-m", "m")
      assert.include(yield* push(`HEAD:refs/heads/${"b".repeat(40)}`), "HEAD ->")
      assert.include(yield* push(`:refs/heads/${"b".repeat(40)}`), "[deleted]")
      assert.include(
        yield* push(`HEAD:refs/heads/${"b".repeat(39)}`, `HEAD:refs/heads/${"b".repeat(41)}`),
        "new branch"
      )
    })
  )
})
