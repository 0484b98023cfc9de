import { execFile } from "node:child_process"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const me = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@x",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@x"
}

/** Stock Git beside the host, which runs in this process. */
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
})
