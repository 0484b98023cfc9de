import * as fs from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as git from "isomorphic-git"
import http from "isomorphic-git/http/node"
import { HostServer, layer as hostLayer } from "../support/host/HostServer.js"
import * as Rest from "../support/host/Rest.js"

const workplace = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "chainstore-iso-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

const author = { name: "Ada", email: "ada@example.org" }

layer(hostLayer(), { timeout: 60_000 })("isomorphic-git against the host", (it) => {
  it.scoped("clones, commits, pushes and fetches", () =>
    Effect.gen(function* () {
      const { token, url } = yield* HostServer
      const dir = yield* workplace
      yield* Rest.repository("iso", { "data/a.json": "1\n", "data/b.json": "2\n" })
      const at = {
        fs,
        http,
        dir,
        url: `${url}/local/iso.git`,
        onAuth: () => ({ username: "x", password: token })
      }
      yield* Effect.promise(async () => {
        await git.clone({ ...at, singleBranch: true, depth: 1 })
        assert.deepStrictEqual(await git.listFiles({ fs, dir }), ["data/a.json", "data/b.json"])
        fs.writeFileSync(join(dir, "data/c.json"), "3\n")
        await git.add({ fs, dir, filepath: "data/c.json" })
        const oid = await git.commit({ fs, dir, message: "from isomorphic-git", author })
        const pushed = await git.push({ ...at, remote: "origin", ref: "main" })
        assert.isTrue(pushed.ok)
        const refs = await git.listServerRefs({ ...at, prefix: "refs/heads/" })
        assert.deepStrictEqual(
          refs.map((ref) => [ref.ref, ref.oid]),
          [["refs/heads/main", oid]]
        )
      })
      const seen = yield* Rest.get("/repos/local/iso/commits?per_page=1")
      assert.strictEqual(seen.body[0].commit.message, "from isomorphic-git")
      const written = yield* Rest.request("PUT", "/repos/local/iso/contents/d.json", {
        body: { message: "from REST", content: Rest.base64("4\n") }
      })
      assert.strictEqual(written.status, 201)
      yield* Effect.promise(async () => {
        const fetched = await git.fetch({ ...at, remote: "origin", ref: "main", singleBranch: true })
        assert.strictEqual(fetched.fetchHead, written.body.commit.sha)
        const { blob } = await git.readBlob({ fs, dir, oid: fetched.fetchHead!, filepath: "d.json" })
        assert.strictEqual(Buffer.from(blob).toString(), "4\n")
      })
    })
  )

  it.scoped("is refused without a token, and a stale push is not forced", () =>
    Effect.gen(function* () {
      const { token, url } = yield* HostServer
      const dir = yield* workplace
      yield* Rest.repository("refused", { "a.json": "1\n" }, { private: true })
      const at = { fs, http, dir, url: `${url}/local/refused.git` }
      const onAuth = () => ({ username: token, password: "x-oauth-basic" })
      yield* Effect.promise(async () => {
        const failure = await git.clone(at).then(
          () => undefined,
          (error) => error
        )
        assert.strictEqual(failure?.code, "HttpError")
        assert.strictEqual(failure?.data.statusCode, 401)
        await git.clone({ ...at, onAuth })
      })
      yield* Rest.request("PUT", "/repos/local/refused/contents/b.json", {
        body: { message: "m", content: "" }
      })
      yield* Effect.promise(async () => {
        await git.commit({ fs, dir, message: "late", author })
        const late = await git.push({ ...at, onAuth, remote: "origin", ref: "main" }).then(
          () => undefined,
          (error) => error
        )
        assert.strictEqual(late?.code, "PushRejectedError")
      })
    })
  )
})
