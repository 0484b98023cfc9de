import { execFileSync } from "node:child_process"
import { setTimeout } from "node:timers/promises"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import { inEachVersion } from "../../support/host/inEachVersion.js"
import * as Rest from "../../support/host/Rest.js"

const none = "0123456789012345678901234567890123456789"

const said = (answer: Rest.RestAnswer) => [answer.status, answer.body?.message]

const post = (path: string, body: unknown) => Rest.request("POST", path, { body })

inEachVersion("git data", {}, (it) => {
  it.effect("an empty repository says so, and takes its first file from contents alone", () =>
    Effect.gen(function* () {
      const at = "/repos/local/empty"
      yield* Rest.repository("empty")
      const empty = [409, "Git Repository is empty."]
      for (const path of [
        "commits",
        "commits/main",
        "git/ref/heads/main",
        "git/refs",
        "git/trees/main",
        "git/matching-refs/heads/"
      ]) {
        assert.deepStrictEqual(said(yield* Rest.get(`${at}/${path}`)), empty, path)
      }
      assert.deepStrictEqual(said(yield* Rest.get(`${at}/git/blobs/${none}`)), empty)
      assert.deepStrictEqual(said(yield* post(`${at}/git/blobs`, { content: "x" })), empty)
      assert.deepStrictEqual(said(yield* post(`${at}/git/trees`, { tree: [] })), empty)
      assert.deepStrictEqual(said(yield* post(`${at}/git/commits`, { message: "m", tree: none })), empty)
      assert.deepStrictEqual(said(yield* post(`${at}/git/refs`, { ref: "refs/heads/x", sha: none })), empty)
      assert.deepStrictEqual((yield* Rest.get(`${at}/branches`)).body, [])
      assert.strictEqual((yield* Rest.get(at)).body.size, 0)
    })
  )

  it.effect("blobs: utf-8 and base64 in, base64 or raw out", () =>
    Effect.gen(function* () {
      const at = "/repos/local/blobs"
      yield* Rest.repository("blobs", { "a.json": "{}\n" })
      const utf8 = yield* post(`${at}/git/blobs`, { content: "über\n" })
      const base64 = yield* post(`${at}/git/blobs`, { content: Rest.base64("über\n"), encoding: "base64" })
      assert.strictEqual(utf8.status, 201)
      assert.deepStrictEqual(Object.keys(utf8.body), ["sha", "url"])
      assert.strictEqual(utf8.body.sha, base64.body.sha)
      const raw = yield* Rest.get(`${at}/git/blobs/${utf8.body.sha}`, {
        headers: { accept: "application/vnd.github.raw" }
      })
      assert.strictEqual(raw.text, "über\n")
      assert.strictEqual((yield* Rest.get(`${at}/git/blobs/${none}`)).status, 404)
      assert.strictEqual((yield* Rest.get(`${at}/git/blobs/xyz`)).status, 422)
      assert.strictEqual((yield* post(`${at}/git/blobs`, { content: "x", encoding: "latin1" })).status, 422)
    })
  )

  it.effect("trees: base as tree or commit, nested paths, inline content, null deletes", () =>
    Effect.gen(function* () {
      const at = "/repos/local/trees"
      const head = (yield* Rest.repository("trees", {
        "data/a.json": "1\n",
        "data/b.json": "2\n",
        "c.json": "3\n"
      }))!
      const change = {
        tree: [
          { path: "data/a.json", mode: "100644", type: "blob", sha: null },
          { path: "new/deep/x.json", mode: "100644", type: "blob", content: "ü\n" }
        ]
      }
      const byTree = yield* post(`${at}/git/trees`, { base_tree: head.tree, ...change })
      const byCommit = yield* post(`${at}/git/trees`, { base_tree: head.commit, ...change })
      assert.strictEqual(byTree.status, 201)
      assert.strictEqual(byTree.body.sha, byCommit.body.sha)
      const listed = yield* Rest.get(`${at}/git/trees/${byTree.body.sha}?recursive=0`)
      assert.deepStrictEqual(
        listed.body.tree.map((entry: Rest.Json) => [entry.path, entry.type, entry.size]),
        [
          ["c.json", "blob", 2],
          ["data", "tree", undefined],
          ["data/b.json", "blob", 2],
          ["new", "tree", undefined],
          ["new/deep", "tree", undefined],
          ["new/deep/x.json", "blob", 3]
        ]
      )
      const alone = yield* post(`${at}/git/trees`, { tree: change.tree.slice(1) })
      assert.deepStrictEqual(
        alone.body.tree.map((entry: Rest.Json) => entry.path),
        ["new"]
      )
      const gone = {
        base_tree: head.tree,
        tree: [{ path: "nope.json", mode: "100644", type: "blob", sha: null }]
      }
      assert.deepStrictEqual(said(yield* post(`${at}/git/trees`, gone)), [422, "GitRPC::BadObjectState"])
      const entry = (more: object) =>
        post(`${at}/git/trees`, { tree: [{ path: "a", mode: "100644", type: "blob", ...more }] })
      assert.match((yield* entry({})).body.message, /^Must supply either tree\.sha or tree\.content/)
      assert.strictEqual((yield* entry({ sha: head.tree })).status, 422)
      assert.strictEqual((yield* entry({ content: "x", mode: "777" })).status, 422)
      for (const path of ["../x", "a/../b", "/a", "a//b", ".git/config", "a/.GIT/x", "a/.", "nul\u0000l"]) {
        assert.deepStrictEqual(
          said(yield* entry({ content: "x", path })),
          [422, "tree.path contains a malformed path component"],
          path
        )
      }
      for (const nothing of [{ tree: [] }, { base_tree: head.tree, tree: [] }])
        assert.deepStrictEqual(said(yield* post(`${at}/git/trees`, nothing)), [422, "Invalid tree info"])
      const file = { path: "a", content: "x" }
      assert.strictEqual((yield* post(`${at}/git/trees`, { base_tree: none, tree: [file] })).status, 422)
      assert.strictEqual((yield* Rest.get(`${at}/git/trees/${none}`)).status, 404)
      assert.strictEqual((yield* Rest.get(`${at}/git/trees/main:data`)).body.tree.length, 2)
    })
  )

  it.effect("commits: root or with parents, people and dates as given", () =>
    Effect.gen(function* () {
      const at = "/repos/local/commits"
      const head = (yield* Rest.repository("commits", { "a.json": "1\n" }))!
      const author = { name: "Ada", email: "ada@example.org", date: "2020-01-02T03:04:05+02:00" }
      const made = yield* post(`${at}/git/commits`, { message: "root", tree: head.tree, author })
      assert.strictEqual(made.status, 201)
      assert.deepStrictEqual(made.body.parents, [])
      assert.deepStrictEqual(made.body.author, {
        name: "Ada",
        email: "ada@example.org",
        date: "2020-01-02T01:04:05Z"
      })
      assert.deepStrictEqual(made.body.committer, made.body.author)
      const same = yield* post(`${at}/git/commits`, { message: "root", tree: head.tree, author })
      assert.strictEqual(same.body.sha, made.body.sha)
      assert.strictEqual((yield* Rest.get(`${at}/git/commits/${made.body.sha}`)).body.message, "root")
      const wrong = { message: "x", tree: none }
      assert.deepStrictEqual(said(yield* post(`${at}/git/commits`, wrong)), [422, "Tree SHA does not exist"])
      const orphan = { message: "x", tree: head.tree, parents: [none] }
      assert.deepStrictEqual(said(yield* post(`${at}/git/commits`, orphan)), [
        422,
        "Parent SHA does not exist or is not a commit object"
      ])
      assert.strictEqual((yield* Rest.get(`${at}/git/commits/${none}`)).status, 404)
    })
  )

  it.effect("refs: made once, moved forward, listed by prefix, deleted", () =>
    Effect.gen(function* () {
      const at = "/repos/local/refs"
      const head = (yield* Rest.repository("refs", { "a.json": "1\n" }))!
      const next = (yield* post(`${at}/git/commits`, {
        message: "n",
        tree: head.tree,
        parents: [head.commit]
      })).body.sha
      const ref = (name: string, sha: string) => post(`${at}/git/refs`, { ref: name, sha })
      const made = yield* ref("refs/heads/feature/a", head.commit)
      assert.deepStrictEqual([made.status, made.body.object.type], [201, "commit"])
      assert.deepStrictEqual(said(yield* ref("refs/heads/feature/a", head.commit)), [
        422,
        "Reference already exists"
      ])
      yield* ref("refs/heads/featureA", head.commit)
      assert.deepStrictEqual(said(yield* ref("refs/heads/x", none)), [422, "Object does not exist"])
      assert.deepStrictEqual(said(yield* ref("refs/heads/main/below", head.commit)), [
        422,
        "Reference update failed"
      ])
      for (const name of [
        "heads/x",
        "refs/heads",
        "refs/heads/a..b",
        "refs/heads/-x",
        "refs/heads/x.lock",
        "refs/heads/a b",
        "refs/heads/.x",
        "refs/heads/x/",
        "refs/heads/@{x"
      ]) {
        assert.strictEqual((yield* ref(name, head.commit)).status, 422, name)
      }
      const names = (answer: Rest.RestAnswer) => answer.body.map((one: Rest.Json) => one.ref)
      assert.deepStrictEqual(names(yield* Rest.get(`${at}/git/matching-refs/heads/feature`)), [
        "refs/heads/feature/a",
        "refs/heads/featureA"
      ])
      assert.deepStrictEqual(names(yield* Rest.get(`${at}/git/refs`)), [
        "refs/heads/feature/a",
        "refs/heads/featureA",
        "refs/heads/main"
      ])
      assert.deepStrictEqual(names(yield* Rest.get(`${at}/git/refs/heads/feature`)), [
        "refs/heads/feature/a",
        "refs/heads/featureA"
      ])
      assert.strictEqual((yield* Rest.get(`${at}/git/refs/heads/main`)).body.ref, "refs/heads/main")
      assert.strictEqual((yield* Rest.get(`${at}/git/ref/heads/feature`)).status, 404)
      assert.strictEqual((yield* Rest.get(`${at}/git/ref/heads%2Ffeature%2Fa`)).status, 200)
      const move = (name: string, body: unknown) => Rest.request("PATCH", `${at}/git/refs/${name}`, { body })
      assert.strictEqual((yield* move("heads/main", { sha: next })).status, 200)
      assert.deepStrictEqual(said(yield* move("heads/main", { sha: head.commit })), [
        422,
        "Update is not a fast forward"
      ])
      assert.strictEqual((yield* move("heads/main", { sha: head.commit, force: true })).status, 200)
      assert.strictEqual((yield* move("heads/main", { sha: next, force: "true" })).status, 422)
      assert.deepStrictEqual(said(yield* move("heads/gone", { sha: next })), [
        422,
        "Reference does not exist"
      ])
      assert.deepStrictEqual(said(yield* move("refs/heads/main", { sha: next })), [
        422,
        "Reference does not exist"
      ])
      assert.deepStrictEqual(said(yield* move("heads/main", { sha: none })), [422, "Object does not exist"])
      const gone = yield* Rest.request("DELETE", `${at}/git/refs/heads/feature/a`)
      assert.deepStrictEqual([gone.status, gone.text], [204, ""])
      assert.deepStrictEqual(said(yield* Rest.request("DELETE", `${at}/git/refs/heads/feature/a`)), [
        422,
        "Reference does not exist"
      ])
    })
  )

  it.effect("refs: what Git made is moved and deleted, whatever it is called", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const at = "/repos/local/dashes"
      const head = (yield* Rest.repository("dashes", { "a.json": "1\n" }))!
      const next = (yield* post(`${at}/git/commits`, {
        message: "n",
        tree: head.tree,
        parents: [head.commit]
      })).body.sha
      const path = `${directory}/repos/local/dashes.git`
      for (const name of ["heads/feature/-x", "heads/-y", "tags/-z"]) {
        execFileSync("git", ["-C", path, "update-ref", `refs/${name}`, head.commit])
        const ref = `${at}/git/refs/${name}`
        assert.strictEqual((yield* Rest.get(ref)).body.object.sha, head.commit)
        const moved = yield* Rest.request("PATCH", ref, { body: { sha: next } })
        assert.deepStrictEqual([moved.status, moved.body.object?.sha], [200, next])
        assert.strictEqual((yield* Rest.request("DELETE", ref)).status, 204)
        assert.strictEqual((yield* Rest.get(ref)).status, 404)
      }
    })
  )

  it.effect("tags: annotated ones are made, read and peeled", () =>
    Effect.gen(function* () {
      const at = "/repos/local/tags"
      const head = (yield* Rest.repository("tags", { "a.json": "1\n" }))!
      const tag = yield* post(`${at}/git/tags`, {
        tag: "v1",
        message: "one\n",
        object: head.commit,
        type: "commit"
      })
      assert.strictEqual(tag.status, 201)
      yield* post(`${at}/git/refs`, { ref: "refs/tags/v1", sha: tag.body.sha })
      assert.strictEqual((yield* Rest.get(`${at}/git/ref/tags/v1`)).body.object.type, "tag")
      assert.strictEqual((yield* Rest.get(`${at}/git/tags/${tag.body.sha}`)).body.object.sha, head.commit)
      assert.strictEqual((yield* Rest.get(`${at}/tags`)).body[0].commit.sha, head.commit)
      assert.strictEqual((yield* Rest.get(`${at}/contents/a.json?ref=v1`)).status, 200)
    })
  )

  it.effect("tags: one that Git has is shown, whenever it was made", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const at = "/repos/local/years"
      const head = (yield* Rest.repository("years", { "a.json": "1\n" }))!
      const git = (input: string, ...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-C", `${directory}/repos/local/years.git`, ...args], {
          input,
          encoding: "utf8"
        }).trim()
      for (const [seconds, date] of [
        ["9999999999999", "1970-01-01T00:00:00Z"],
        ["253402300799", "9999-12-31T23:59:59Z"],
        ["86400", "1970-01-02T00:00:00Z"]
      ] as const) {
        const content = `object ${head.commit}\ntype commit\ntag v\ntagger a <a@x> ${seconds} +0000\n\nm\n`
        const sha = git(content, "hash-object", "-t", "tag", "-w", "--stdin")
        git("", "update-ref", "refs/tags/v", sha)
        const shown = yield* Rest.get(`${at}/git/tags/${sha}`)
        assert.deepStrictEqual([shown.status, shown.body.tagger?.date], [200, date], seconds)
        const { data } = yield* Rest.graphql(
          `{ repository(owner: "local", name: "years") { ref(qualifiedName: "v") { target { ... on Tag { tagger { date } } } } } }`
        )
        assert.strictEqual(data.repository.ref.target?.tagger.date, date)
      }
    })
  )

  it.effect("a lost race of moves is judged by where the branch is", () =>
    Effect.gen(function* () {
      const at = "/repos/local/moves"
      const head = (yield* Rest.repository("moves", { "a.json": "1\n" }))!
      const commits = yield* Effect.forEach(
        Array.from({ length: 8 }, (_, index) => index),
        (index) =>
          Effect.map(
            post(`${at}/git/commits`, { message: `${index}`, tree: head.tree, parents: [head.commit] }),
            ({ body }) => body.sha as string
          )
      )
      const answers = yield* Effect.forEach(
        commits,
        (sha) => Rest.request("PATCH", `${at}/git/refs/heads/main`, { body: { sha } }),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [
        200,
        ...Array.from({ length: 7 }, () => 422)
      ])
    })
  )
})

layer(host(), { timeout: 60_000 })("two refs that cannot be beside each other", (it) => {
  it.effect("are never made both, and one is refused", () =>
    Effect.gen(function* () {
      const { repositories } = yield* HostServer
      const { commit } = (yield* Rest.repository("beside", { "a.json": "1\n" }))!
      const all = { id: "t", login: "t", grants: [{ repository: "*", access: "write" as const }] }
      const hosted = yield* repositories.openForRead(all, "local", "beside")
      for (const kind of ["heads", "tags"]) {
        const made = (ref: string) => post("/repos/local/beside/git/refs", { ref, sha: commit })
        const asked = yield* hosted.git.withExclusiveAccess(
          Effect.gen(function* () {
            const both = yield* Effect.forEach([`refs/${kind}/a`, `refs/${kind}/a/b`], (ref) =>
              Effect.fork(made(ref))
            )
            for (let read = 0; read < 5; read++) yield* Rest.get("/repos/local/beside")
            return both
          })
        )
        const answers = yield* Effect.forEach(asked, Fiber.join)
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 422])
      }
    }).pipe(Effect.scoped)
  )
})

// With durable writes: the longer a flush takes, the more often a ref moves meanwhile.
layer(host({ durability: "fsync" }), { timeout: 60_000 })("a branch that is written all the time", (it) => {
  it.effect.each(["REST", "GraphQL"])(
    "is moved, committed to, merged into and deleted all the same, by %s",
    (by) =>
      Effect.gen(function* () {
        const at = `/repos/local/busy-${by}`
        const head = (yield* Rest.repository(`busy-${by}`, { "a.json": "1\n" }))!
        yield* post(`${at}/git/refs`, { ref: "refs/heads/work", sha: head.commit })
        const put = (path: string, body: object) =>
          Rest.request("PUT", `${at}/contents/${path}`, {
            body: { branch: "work", message: "m", content: "", ...body }
          })
        let written = 0
        const writer = (number: number) =>
          Effect.gen(function* () {
            for (let file = 0; ; file++) {
              const { status } = yield* put(`${number}/${file}`, {})
              if (status === 404) return
              assert.strictEqual(status, 201)
              written++
            }
          })
        const writers = yield* Effect.fork(
          Effect.forEach(
            Array.from({ length: 8 }, (_, number) => number),
            writer,
            { concurrency: "unbounded", discard: true }
          )
        )
        const author = { name: "a", email: "a@x", date: "2020-01-01T00:00:00Z" }
        for (let round = 0; round < 2; round++) {
          const before = written
          while (written < before + 12) yield* Effect.promise(() => setTimeout(2))
          assert.strictEqual((yield* put(`dated/${round}`, { author })).status, 201)
          const other = (yield* post(`${at}/git/commits`, {
            message: `other ${round}`,
            tree: head.tree,
            parents: [head.commit]
          })).body.sha
          const merged = yield* post(`${at}/merges`, { base: "work", head: other })
          assert.strictEqual(merged.status, 201, merged.text)
          const body = { sha: head.commit, force: true }
          assert.strictEqual(
            (yield* Rest.request("PATCH", `${at}/git/refs/heads/work`, { body })).status,
            200
          )
        }
        const { data } = yield* Rest.graphql(
          `{ repository(owner: "local", name: "busy-${by}") { ref(qualifiedName: "refs/heads/work") { id } } }`
        )
        const before = written
        while (written < before + 12) yield* Effect.promise(() => setTimeout(2))
        if (by === "REST")
          assert.strictEqual((yield* Rest.request("DELETE", `${at}/git/refs/heads/work`)).status, 204)
        else {
          const deleted = yield* Rest.graphql(
            `mutation($id: ID!) { deleteRef(input: { refId: $id }) { clientMutationId } }`,
            { id: data.repository.ref.id }
          )
          assert.isUndefined(deleted.errors)
        }
        yield* Fiber.join(writers)
        assert.strictEqual((yield* Rest.get(`${at}/git/ref/heads/work`)).status, 404)
      }),
    120_000
  )
})
