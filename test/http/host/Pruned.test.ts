import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

layer(host(), { timeout: 60_000 })("a commit that was read, and that Git has pruned since", (it) => {
  it.effect("responds like a repository that never existed", () =>
    Effect.gen(function* () {
      yield* Rest.repository("pruned")
      const { directory } = yield* HostServer
      const at = "/repos/local/pruned"
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", args, { cwd: join(directory, "repos/local/pruned.git") })
      const content = Buffer.from('{"n":1}').toString("base64")
      const put = (path: string, branch: string) =>
        Rest.request("PUT", `${at}/contents/${path}`, { body: { message: "m", content, branch } })
      yield* put("a.json", "main")
      const { object } = (yield* Rest.get(`${at}/git/ref/heads/main`)).body
      const body = { ref: "refs/heads/side", sha: object.sha }
      yield* Rest.request("POST", `${at}/git/refs`, { body })
      const { commit } = (yield* put("b.json", "side")).body
      const paths = [
        `${at}/git/commits/${commit.sha}`,
        `${at}/commits/${commit.sha}`,
        `${at}/contents/b.json?ref=${commit.sha}`,
        `${at}/contents/?ref=${commit.sha}`,
        `${at}/git/trees/${commit.sha}?recursive=1`,
        `${at}/commits?sha=${commit.sha}`,
        `${at}/compare/main...${commit.sha}`
      ]
      for (const path of paths) assert.strictEqual((yield* Rest.get(path)).status, 200, path)
      git("update-ref", "-d", "refs/heads/side")
      git("reflog", "expire", "--expire=now", "--all")
      git("gc", "-q", "--prune=now")
      assert.throws(() => git("cat-file", "-e", commit.sha))
      const answers = yield* Effect.forEach(paths, (path) =>
        Effect.map(Rest.get(path), ({ status }) => `${path} ${status}`)
      )
      assert.deepStrictEqual(
        answers.filter((answer) => !/ (404|422)$/.test(answer)),
        []
      )
      const again = yield* Rest.request("POST", `${at}/git/refs`, {
        body: { ref: "refs/heads/again", sha: commit.sha }
      })
      assert.strictEqual(again.status, 422)
      const above = yield* Rest.request("POST", `${at}/git/commits`, {
        body: { message: "m", tree: commit.tree.sha, parents: [commit.sha] }
      })
      assert.include([404, 422], above.status)
    })
  )
})
