import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as PullRequests from "../../../src/http/host/repository/PullRequests.js"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const put = (at: string, branch: string, path: string) =>
  Rest.request("PUT", `${at}/contents/${path}`, {
    body: { message: `write ${path}`, content: Rest.base64(`${branch} ${path}\n`), branch }
  })

const branched = (at: string, branch: string, from = "main") =>
  Effect.gen(function* () {
    const { body } = yield* Rest.get(`${at}/git/ref/heads/${from}`)
    yield* Rest.request("POST", `${at}/git/refs`, {
      body: { ref: `refs/heads/${branch}`, sha: body.object.sha }
    })
  })

/** A repository with branches that are one commit ahead of `main`. */
const prepared = (name: string, branches: ReadonlyArray<string> = ["topic"]) =>
  Effect.gen(function* () {
    const { directory } = yield* HostServer
    yield* Rest.repository(name, { "a.txt": "a\n" })
    const at = `/repos/local/${name}`
    for (const branch of branches) {
      yield* branched(at, branch)
      yield* put(at, branch, `${branch}.txt`)
    }
    const bare = join(directory, `repos/local/${name}.git`)
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", bare, ...args], { encoding: "utf8" }).trim()
    return { at, git }
  })

const open = (at: string, head: string, base = "main") =>
  Rest.request("POST", `${at}/pulls`, { body: { title: `Add ${head}`, head, base } })

const patch = (at: string, number: number, body: object) =>
  Rest.request("PATCH", `${at}/pulls/${number}`, { body })

const writer = { id: "w", login: "w", grants: [{ repository: "*", access: "write" as const }] }

/** The host uses the wall clock, not the test's clock. */
const millis = (count: number) => Effect.promise(() => new Promise((done) => setTimeout(done, count)))

layer(host(), { timeout: 60_000 })("pull requests", (it) => {
  it.scoped("block no exclusive access, and are not blocked by one", () =>
    Effect.gen(function* () {
      const { at } = yield* prepared("alone")
      yield* open(at, "topic")
      yield* put(at, "topic", "later.txt")
      const { repositories } = yield* HostServer
      const { git } = yield* repositories.openForRead(writer, "local", "alone")
      const changed = yield* PullRequests.change(git, 1, (request) =>
        Effect.gen(function* () {
          yield* Effect.forkDaemon(git.withExclusiveAccess(Effect.void))
          yield* millis(50)
          return [{ ...request, title: "Changed" }, undefined] as const
        })
      )
      assert.isTrue(Option.isSome(changed))
      assert.strictEqual((yield* Rest.get(`${at}/pulls/1`)).body.title, "Changed")
    })
  )

  it.effect("are not merged if their branch is reset to its base", () =>
    Effect.gen(function* () {
      const { at, git } = yield* prepared("reset")
      yield* open(at, "topic")
      const sha = git("rev-parse", "main")
      const moved = yield* Rest.request("PATCH", `${at}/git/refs/heads/topic`, { body: { sha, force: true } })
      assert.strictEqual(moved.status, 200)
      const { body } = yield* Rest.get(`${at}/pulls/1`)
      assert.deepInclude(body, { merged: false, merged_at: null })
    })
  )

  it.effect("are closed by the deletion of their base, and opened again when it is back", () =>
    Effect.gen(function* () {
      const { at, git } = yield* prepared("baseless")
      yield* branched(at, "autumn")
      const sha = git("rev-parse", "autumn")
      yield* open(at, "topic", "autumn")
      const deleted = yield* Rest.request("DELETE", `${at}/git/refs/heads/autumn`)
      assert.strictEqual(deleted.status, 204)
      const { body } = yield* Rest.get(`${at}/pulls/1`)
      assert.deepInclude(body, { state: "closed", merged: false, merged_at: null })
      assert.deepStrictEqual((yield* Rest.get(`${at}/pulls`)).body, [])
      assert.strictEqual((yield* patch(at, 1, { state: "open" })).status, 422)
      yield* Rest.request("POST", `${at}/git/refs`, { body: { ref: "refs/heads/autumn", sha } })
      assert.deepInclude((yield* patch(at, 1, { state: "open" })).body, { state: "open", closed_at: null })
    })
  )

  it.effect("cannot be given a base that holds their commits already, and are not merged by that", () =>
    Effect.gen(function* () {
      const { at } = yield* prepared("rebased")
      yield* open(at, "topic")
      yield* branched(at, "copy", "topic")
      const changed = yield* patch(at, 1, { base: "copy" })
      const { body } = yield* Rest.get(`${at}/pulls/1`)
      assert.deepInclude(body, { merged: false, merged_at: null })
      assert.strictEqual(changed.status, 422)
    })
  )

  const beside = {
    pushes: (at: string, name: string) =>
      Effect.forEach([1, 2, 3, 4], (part) => put(at, name, `${name}-${part}.txt`)),
    closes: (at: string, _: string, number: number) =>
      Effect.zipRight(millis((number - 1) * 3), patch(at, number, { state: "closed" }))
  }
  for (const what of ["pushes", "closes"] as const) {
    it.effect(`are merged if the merge was acknowledged, also if ${what} meanwhile`, () =>
      Effect.gen(function* () {
        const names = Array.from({ length: 10 }, (_, index) => `b${index}`)
        const { at } = yield* prepared(what, names)
        let merges = 0
        for (const [index, name] of names.entries()) {
          const number = index + 1
          yield* open(at, name)
          const [merge] = yield* Effect.all(
            [
              Rest.request("PUT", `${at}/pulls/${number}/merge`, { body: {} }),
              beside[what](at, name, number)
            ],
            { concurrency: "unbounded" }
          )
          if (merge.status !== 200) continue
          merges++
          const { body } = yield* Rest.get(`${at}/pulls/${number}`)
          assert.deepInclude(body, { state: "closed", merged: true, merge_commit_sha: merge.body.sha }, name)
        }
        assert.isAbove(merges, 0)
      })
    )
  }

  it.effect("are not reopened where their branches have another open one", () =>
    Effect.gen(function* () {
      const { at } = yield* prepared("twins")
      yield* open(at, "topic")
      yield* patch(at, 1, { state: "closed" })
      assert.strictEqual((yield* open(at, "topic")).status, 201)
      const reopened = yield* patch(at, 1, { state: "open" })
      const all = yield* Rest.get(`${at}/pulls?head=local:topic&base=main`)
      assert.lengthOf(all.body, 1)
      assert.strictEqual(reopened.status, 422)
    })
  )

  it.effect("are not given a base for which their branch has another open one", () =>
    Effect.gen(function* () {
      const { at } = yield* prepared("bases")
      yield* branched(at, "next")
      yield* open(at, "topic")
      yield* open(at, "topic", "next")
      const changed = yield* patch(at, 2, { base: "main" })
      const all = yield* Rest.get(`${at}/pulls?head=local:topic&base=main`)
      assert.lengthOf(all.body, 1)
      assert.strictEqual(changed.status, 422)
    })
  )

  it.effect("that are reopened show where their branch is now", () =>
    Effect.gen(function* () {
      const { at, git } = yield* prepared("reopened")
      yield* open(at, "topic")
      yield* patch(at, 1, { state: "closed" })
      yield* put(at, "topic", "more.txt")
      const { body } = yield* patch(at, 1, { state: "open" })
      assert.strictEqual(body.head.sha, git("rev-parse", "topic"))
      assert.strictEqual(body.commits, 2)
    })
  )

  it.effect("that are sorted by their update come oldest first, as GitHub documents", () =>
    Effect.gen(function* () {
      const { at } = yield* prepared("sorted", ["one", "two"])
      yield* open(at, "one")
      yield* open(at, "two")
      yield* Effect.promise(() => new Promise((done) => setTimeout(done, 1100)))
      yield* patch(at, 1, { title: "One" })
      const { body } = yield* Rest.get(`${at}/pulls?sort=updated`)
      assert.deepStrictEqual(
        body.map(({ number }: Rest.Json) => number),
        [2, 1]
      )
    })
  )

  it.effect("that their base was moved onto show their commits, whatever is merged after them", () =>
    Effect.gen(function* () {
      const { at, git } = yield* prepared("forward", ["one", "two"])
      yield* open(at, "one")
      const sha = git("rev-parse", "one")
      yield* Rest.request("PATCH", `${at}/git/refs/heads/main`, { body: { sha } })
      yield* Rest.request("POST", `${at}/merges`, { body: { base: "main", head: "two" } })
      const { body } = yield* Rest.get(`${at}/pulls/1`)
      assert.deepInclude(body, { merged: true, commits: 1, changed_files: 1, merge_commit_sha: sha })
    })
  )
})
