import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const run = promisify(execFile)

const tokens = [
  {
    token: Redacted.make("reader-token"),
    login: "reader",
    grants: [{ repository: "local/open", access: "read" as const }]
  }
]

/** A repository whose branch `topic` is one commit ahead of `main`. */
const prepared = (name: string, branches: ReadonlyArray<string> = ["topic"]) =>
  Effect.gen(function* () {
    const { directory } = yield* HostServer
    yield* Rest.repository(name, { "a.txt": "a\n" })
    const at = `/repos/local/${name}`
    for (const branch of branches) yield* branched(at, branch)
    const bare = join(directory, `repos/local/${name}.git`)
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", bare, ...args], { encoding: "utf8" }).trim()
    return { at, git, bare }
  })

const branched = (at: string, branch: string, path = `${branch}.txt`) =>
  Effect.gen(function* () {
    const { body } = yield* Rest.get(`${at}/git/ref/heads/main`)
    yield* Rest.request("POST", `${at}/git/refs`, {
      body: { ref: `refs/heads/${branch}`, sha: body.object.sha }
    })
    return yield* put(at, branch, path)
  })

const put = (at: string, branch: string, path: string, text = `${branch}\n`) =>
  Rest.request("PUT", `${at}/contents/${path}`, {
    body: { message: `write ${path}`, content: Rest.base64(text), branch }
  })

const open = (at: string, head: string, more: object = {}) =>
  Rest.request("POST", `${at}/pulls`, { body: { title: `Add ${head}`, head, base: "main", ...more } })

layer(host({ tokens }), { timeout: 60_000 })("pull requests", (it) => {
  it.effect(
    "are made, shown with their commits and files, changed, and merged at the commit that was seen",
    () =>
      Effect.gen(function* () {
        const { at, git } = yield* prepared("life")
        const made = yield* open(at, "topic", { body: "Why." })
        assert.strictEqual(made.status, 201, made.text)
        assert.deepInclude(made.body, { number: 1, state: "open", body: "Why.", commits: 1, mergeable: true })
        assert.strictEqual(git("rev-parse", "refs/pull/1/head"), git("rev-parse", "topic"))
        const commits = yield* Rest.get(`${at}/pulls/1/commits`)
        assert.deepStrictEqual(
          commits.body.map(({ commit }: Rest.Json) => commit.message),
          ["write topic.txt"]
        )
        const files = yield* Rest.get(`${at}/pulls/1/files`)
        assert.deepStrictEqual(
          files.body.map(({ filename, status }: Rest.Json) => [filename, status]),
          [["topic.txt", "added"]]
        )
        const asked = (format: string) =>
          Rest.get(`${at}/pulls/1`, {
            headers: { accept: `application/vnd.github.v3.${format}; charset=utf-8` }
          })
        const diff = yield* asked("diff")
        assert.strictEqual(diff.headers.get("content-type"), "application/vnd.github.diff; charset=utf-8")
        assert.strictEqual(diff.text.trim(), git("diff", "main", "topic"))
        assert.strictEqual(
          (yield* asked("patch")).text.trim(),
          git("format-patch", "--stdout", "--no-signature", "main..topic")
        )
        const twice = yield* open(at, "topic")
        assert.strictEqual(twice.status, 422)
        assert.strictEqual(twice.body.errors[0].message, "A pull request already exists for local:topic.")
        const retitled = yield* Rest.request("PATCH", `${at}/pulls/1`, { body: { title: "Topic" } })
        assert.strictEqual(retitled.body.title, "Topic")
        const old = git("rev-parse", "topic")
        yield* put(at, "topic", "more.txt")
        assert.strictEqual((yield* Rest.get(`${at}/pulls/1/merge`)).status, 404)
        const stale = yield* Rest.request("PUT", `${at}/pulls/1/merge`, { body: { sha: old } })
        assert.deepInclude(stale, { status: 409 })
        const squash = yield* Rest.request("PUT", `${at}/pulls/1/merge`, { body: { merge_method: "squash" } })
        assert.strictEqual(squash.status, 405)
        const sha = git("rev-parse", "topic")
        const merged = yield* Rest.request("PUT", `${at}/pulls/1/merge`, { body: { sha } })
        assert.deepInclude(merged.body, { merged: true, sha: git("rev-parse", "main") })
        assert.strictEqual(git("log", "-1", "--format=%P %s", "main").split(" ")[1], sha)
        assert.strictEqual((yield* Rest.get(`${at}/pulls/1/merge`)).status, 204)
        const again = yield* Rest.request("PUT", `${at}/pulls/1/merge`, { body: {} })
        assert.strictEqual(again.status, 405)
        const shown = yield* Rest.get(`${at}/pulls/1`)
        assert.deepInclude(shown.body, {
          state: "closed",
          merged: true,
          commits: 2,
          merge_commit_sha: merged.body.sha
        })
        assert.strictEqual(shown.body.merged_by.login, "local")
        git("fsck", "--strict")
      })
  )

  it.effect("have refs that the host alone writes, by REST, GraphQL and pushes", () =>
    Effect.gen(function* () {
      const { at, git } = yield* prepared("refs")
      const made = yield* open(at, "topic")
      const refs = () => git("for-each-ref", "refs/pull/")
      const before = refs()
      const sha = git("rev-parse", "main")
      const asked = [
        ["POST", `${at}/git/refs`, { ref: "refs/pull/2/head", sha }],
        ["PATCH", `${at}/git/refs/pull/1/head`, { sha, force: true }],
        ["DELETE", `${at}/git/refs/pull/1/head`, undefined]
      ] as const
      for (const [method, path, body] of asked) {
        const answer = yield* Rest.request(method, path, body === undefined ? {} : { body })
        assert.strictEqual(answer.status, 422, method)
      }
      const { token, url } = yield* HostServer
      const remote = `${url.replace("//", `//x:${token}@`)}/local/refs.git`
      const from = mkdtempSync(join(tmpdir(), "chainstore-pulls-"))
      const push = (...args: ReadonlyArray<string>) =>
        Effect.promise(() =>
          run("git", ["-C", from, "push", "-q", ...args]).then(
            () => "",
            ({ stderr }: { readonly stderr: string }) => stderr
          )
        )
      yield* Effect.promise(() => run("git", ["clone", "-q", "--bare", remote, from]))
      assert.include(yield* push(remote, `${sha}:refs/pull/2/head`), "deny updating a hidden ref")
      assert.strictEqual(yield* push("--mirror", remote), "")
      assert.strictEqual(refs(), before)
      assert.strictEqual((yield* Rest.get(`${at}/pulls/1`)).body.head.sha, made.body.head.sha)
      rmSync(from, { recursive: true, force: true })
    })
  )

  it.effect(
    "in conflict are not merged, and those merged by a push or left without a branch are closed",
    () =>
      Effect.gen(function* () {
        const { at, git } = yield* prepared("states", ["one", "two", "three"])
        yield* put(at, "one", "same.txt", "1\n")
        for (const name of ["one", "two", "three"]) assert.strictEqual((yield* open(at, name)).status, 201)
        yield* put(at, "main", "same.txt", "2\n")
        assert.deepInclude((yield* Rest.get(`${at}/pulls/1`)).body, {
          mergeable: false,
          mergeable_state: "dirty"
        })
        const refused = yield* Rest.request("PUT", `${at}/pulls/1/merge`, { body: {} })
        assert.deepInclude(refused, { status: 405 })
        yield* Rest.request("POST", `${at}/merges`, { body: { base: "main", head: "two" } })
        yield* put(at, "main", "later.txt")
        const merge = git("rev-parse", "main~1")
        yield* Rest.request("DELETE", `${at}/git/refs/heads/three`)
        const states = yield* Rest.get(`${at}/pulls?state=all&direction=asc`)
        assert.deepStrictEqual(
          states.body.map((one: Rest.Json) => [one.number, one.state, one.merge_commit_sha]),
          [
            [1, "open", null],
            [2, "closed", merge],
            [3, "closed", null]
          ]
        )
        for (const [query, numbers] of [
          ["", [1]],
          ["?state=closed", [3, 2]],
          ["?head=local:two&state=all", [2]],
          ["?base=other&state=all", []]
        ] as const) {
          const found = yield* Rest.get(`${at}/pulls${query}`)
          assert.deepStrictEqual(
            found.body.map(({ number }: Rest.Json) => number),
            numbers,
            query
          )
        }
        const closed = yield* Rest.request("PATCH", `${at}/pulls/1`, { body: { state: "closed" } })
        assert.strictEqual(closed.body.state, "closed")
        const reopened = yield* Rest.request("PATCH", `${at}/pulls/1`, { body: { state: "open" } })
        assert.deepInclude(reopened.body, { state: "open", closed_at: null })
        for (const number of [2, 3]) {
          const never = yield* Rest.request("PATCH", `${at}/pulls/${number}`, { body: { state: "open" } })
          assert.strictEqual(never.status, 422)
        }
      })
  )

  it.effect("that are made at once have numbers of their own, and outlive the server and its clones", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 12 }, (_, index) => `b${index}`)
      const { at, bare, git } = yield* prepared("many", names)
      const made = yield* Effect.forEach(names, (name) => open(at, name), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        made.map(({ body }) => body.number).sort((a, b) => a - b),
        names.map((_, index) => index + 1)
      )
      const twice = yield* Effect.forEach([1, 2, 3, 4], () => open(at, "b0"), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        twice.map(({ status }) => status),
        [422, 422, 422, 422]
      )
      const { directory } = yield* HostServer
      const [clone, mirror] = [join(directory, "clone"), join(directory, "mirror.git")]
      execFileSync("git", ["clone", "-q", bare, clone])
      assert.notInclude(execFileSync("git", ["-C", clone, "for-each-ref"], { encoding: "utf8" }), "pull")
      git("gc", "-q", "--prune=now")
      execFileSync("git", ["clone", "-q", "--mirror", bare, mirror])
      const shown = yield* Effect.provide(
        Effect.gen(function* () {
          const other = yield* HostServer
          yield* Rest.repository("moved")
          const to = join(other.directory, "repos/local/moved.git")
          execFileSync("git", ["-C", mirror, "push", "-q", "--mirror", to])
          return (yield* Rest.get("/repos/local/moved/pulls?per_page=100")).body
        }),
        host()
      )
      const here = yield* Rest.get(`${at}/pulls?per_page=100`)
      const brief = (all: ReadonlyArray<Rest.Json>) =>
        all.map(({ head, number, title }) => [number, title, head.sha])
      assert.deepStrictEqual(brief(shown), brief(here.body))
      assert.lengthOf(shown, 12)
    })
  )

  it.effect(
    "are created and merged with write permission, and wrong ones are refused in GitHub's words",
    () =>
      Effect.gen(function* () {
        const { at, git } = yield* prepared("open", ["topic"])
        const reader = { token: "reader-token" }
        const body = { title: "x", head: "topic", base: "main" }
        assert.strictEqual((yield* Rest.request("POST", `${at}/pulls`, { ...reader, body })).status, 403)
        assert.strictEqual((yield* open(at, "topic")).status, 201)
        assert.strictEqual((yield* Rest.get(`${at}/pulls/1`, reader)).status, 200)
        assert.strictEqual(
          (yield* Rest.request("PUT", `${at}/pulls/1/merge`, { ...reader, body: {} })).status,
          403
        )
        for (const [wrong, field] of [
          [{ head: "nowhere" }, "head"],
          [{ base: "nowhere" }, "base"],
          [{ head: "other:topic" }, "head"],
          [{ head: "a..b" }, "head"],
          [{ title: " " }, "title"]
        ] as const) {
          const refused = yield* Rest.request("POST", `${at}/pulls`, { body: { ...body, ...wrong } })
          assert.strictEqual(refused.status, 422)
          assert.strictEqual(refused.body.errors[0].field, field)
        }
        const none = yield* open(at, "main")
        assert.match(none.body.errors[0].message, /^No commits between main and main$/)
        for (const path of ["pulls/2", "pulls/x", "pulls/0/merge", "pulls/2/files", "pulls/2/commits"]) {
          assert.strictEqual((yield* Rest.get(`${at}/${path}`)).status, 404, path)
        }
        // A client that may push can also write invalid content there.
        git("update-ref", "refs/pull/7/meta", git("rev-parse", "main:a.txt"))
        git("update-ref", "refs/pull/8/meta", git("rev-parse", "main"))
        const left = yield* Rest.get(`${at}/pulls?state=all`)
        assert.lengthOf(left.body, 1)
        assert.strictEqual((yield* Rest.get(`${at}/pulls/7`)).status, 404)
      })
  )
})
