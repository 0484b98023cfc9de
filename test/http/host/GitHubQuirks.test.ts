import { execFileSync } from "node:child_process"
import { rmSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const post = (repo: string, path: string, body: unknown) =>
  Effect.map(Rest.request("POST", `/repos/local/${repo}/${path}`, { body }), (answer) => answer.body)

layer(host(), { timeout: 60_000 })("what is seldom in a repository", (it) => {
  it.effect("a link is as long as its bytes, and a tab in a name loses no lines", () =>
    Effect.gen(function* () {
      yield* Rest.repository("names", { "a.json": "1\n" })
      const { sha: tree } = yield* post("names", "git/trees", {
        tree: [
          { path: "link", mode: "120000", content: "é/none" },
          { path: "tab\there.txt", content: "1\n2\n" }
        ]
      })
      const { sha } = yield* post("names", "git/commits", { message: "m", tree, parents: [] })
      const link = yield* Rest.get(`/repos/local/names/contents/link?ref=${sha}`)
      assert.deepStrictEqual([link.body.target, link.body.size], ["é/none", 7])
      const { files } = (yield* Rest.get(`/repos/local/names/commits/${sha}`)).body
      const found = files.find(({ filename }: Rest.Json) => filename === "tab\there.txt")
      assert.deepStrictEqual([found.additions, found.deletions], [2, 0])
    })
  )

  it.effect("a patch is that of its file, whatever characters end a line elsewhere", () =>
    Effect.gen(function* () {
      yield* Rest.repository("lines", { "a.json": "1\n" })
      const content = "a\rdiff --git x\n\u2028diff --git y\n\u2029diff --git z"
      const { sha: tree } = yield* post("lines", "git/trees", {
        tree: [
          { path: "odd.txt", content },
          { path: "plain.txt", content: "1\n" }
        ]
      })
      const { sha } = yield* post("lines", "git/commits", { message: "m", tree, parents: [] })
      const { files } = (yield* Rest.get(`/repos/local/lines/commits/${sha}`)).body
      const added = content.split("\n").map((line) => `+${line}`)
      assert.deepStrictEqual(
        files.map(({ patch }: Rest.Json) => patch),
        [["@@ -0,0 +1,3 @@", ...added, "\\ No newline at end of file"].join("\n"), "@@ -0,0 +1 @@\n+1"]
      )
    })
  )

  it.effect("a path that no program accepts as an argument is left out of the patches alone", () =>
    Effect.gen(function* () {
      yield* Rest.repository("deep", { "a.json": "1\n" })
      const deep = Array.from({ length: 19 }, () => "d".repeat(210)).join("/")
      let tree = (yield* post("deep", "git/trees", { tree: [{ path: "f", content: "1\n" }] })).sha
      for (let level = 0; level < 34; level++)
        tree = (yield* post("deep", "git/trees", { tree: [{ path: deep, mode: "040000", sha: tree }] })).sha
      const { sha } = yield* post("deep", "git/commits", { message: "m", tree, parents: [] })
      const answer = yield* Rest.get(`/repos/local/deep/commits/${sha}`)
      assert.deepStrictEqual([answer.status, answer.body.stats.additions], [200, 1])
      assert.isAbove(answer.body.files[0].filename.length, 131_072)
    })
  )

  it.effect("a commit and a comparison are shown as Git shows them, where that is asked for", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const first = (yield* Rest.repository("shown", { "a.txt": "1\n", "b.txt": "2\n" }))!.commit
      const sha = (yield* Rest.get("/repos/local/shown/contents/a.txt")).body.sha
      const body = { message: "second\n\ntold", content: Rest.base64("ü\n"), sha }
      yield* Rest.request("PUT", "/repos/local/shown/contents/a.txt", { body })
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-C", `${directory}/repos/local/shown.git`, ...args], { encoding: "utf8" })
      const asked = (path: string, format: string, more: Record<string, string> = {}) =>
        Rest.get(`/repos/local/shown/${path}`, {
          headers: { accept: `application/vnd.github.${format}`, ...more }
        })
      const diff = yield* asked("commits/main", "diff")
      assert.strictEqual(diff.headers.get("content-type"), "application/vnd.github.diff; charset=utf-8")
      assert.strictEqual(diff.text, git("diff", first, "main"))
      assert.strictEqual((yield* asked(`commits/${first}`, "v3.diff")).text.match(/^diff /gm)?.length, 2)
      const mail = git("format-patch", "--stdout", "--no-signature", `${first}..main`)
      assert.include(mail, "Subject: [PATCH] second")
      assert.strictEqual((yield* asked("commits/main", "patch")).text, mail)
      assert.strictEqual((yield* asked(`compare/${first}...main`, "patch")).text, mail)
      assert.strictEqual((yield* asked(`compare/${first}...main`, "diff")).text, diff.text)
      const etag = diff.headers.get("etag")!
      assert.strictEqual((yield* asked("commits/main", "diff", { "if-none-match": etag })).status, 304)
      assert.strictEqual((yield* asked("commits/main", "patch", { "if-none-match": etag })).status, 200)
    })
  )

  it.effect("a merge that Git failed to make is not a conflict", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const head = (yield* Rest.repository("broken", { "a.json": "1\n2\n3\n4\n5\n" }))!.commit
      const branch = (name: string, content: string) =>
        Effect.gen(function* () {
          const tree = yield* post("broken", "git/trees", { tree: [{ path: "a.json", content }] })
          const made = yield* post("broken", "git/commits", {
            message: name,
            tree: tree.sha,
            parents: [head]
          })
          yield* post("broken", "git/refs", { ref: `refs/heads/${name}`, sha: made.sha })
          return tree.tree[0].sha as string
        })
      yield* branch("one", "0\n2\n3\n4\n5\n")
      const lost = yield* branch("two", "1\n2\n3\n4\n6\n")
      rmSync(`${directory}/repos/local/broken.git/objects/${lost.slice(0, 2)}/${lost.slice(2)}`)
      const merge = { base: "one", head: "two" }
      const answer = yield* Rest.request("POST", "/repos/local/broken/merges", { body: merge })
      assert.deepStrictEqual([answer.status, answer.body.message], [502, "Server Error"])
    })
  )

  it.effect("an author is one whole address", () =>
    Effect.gen(function* () {
      yield* Rest.repository("whose", { "a.json": "1\n" })
      for (const email of ["a@x", "aa@x"]) {
        const body = { message: email, content: "", author: { name: "n", email } }
        yield* Rest.request("PUT", `/repos/local/whose/contents/${email}`, { body })
      }
      const { body } = yield* Rest.get("/repos/local/whose/commits?author=a@x")
      assert.deepStrictEqual(
        body.map(({ commit }: Rest.Json) => commit.message),
        ["a@x"]
      )
      for (const lines of ["nobody%0A", "%0A", "nobody%0Aa@x"])
        assert.deepStrictEqual(
          (yield* Rest.get(`/repos/local/whose/commits?author=${lines}`)).body,
          [],
          lines
        )
    })
  )

  it.effect("a tag is dated in its tagger's own time", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const head = yield* Rest.repository("dated", { "a.json": "1\n" })
      const raw = (date: string) =>
        Effect.map(
          post("dated", "git/tags", {
            tag: "v1",
            message: "m",
            object: head!.commit,
            type: "commit",
            tagger: { name: "a", email: "a@x", date }
          }),
          ({ sha }) =>
            execFileSync("git", ["-C", `${directory}/repos/local/dated.git`, "cat-file", "tag", sha], {
              encoding: "utf8"
            })
        )
      assert.include(yield* raw("2024-01-01T00:00:00+05:30"), "tagger a <a@x> 1704047400 +0530\n")
      assert.include(yield* raw("2024-01-01T00:00:00-00:45"), "tagger a <a@x> 1704069900 -0045\n")
      assert.include(yield* raw("2024-01-01T00:00:00Z"), "tagger a <a@x> 1704067200 +0000\n")
    })
  )

  it.effect("a history is of any of its authors, and of any year", () =>
    Effect.gen(function* () {
      yield* Rest.repository("authors", { "a.json": "1\n" })
      for (const name of ["one", "two", "none"]) {
        const body = { message: name, content: "", author: { name, email: `${name}@x` } }
        yield* Rest.request("PUT", `/repos/local/authors/contents/${name}`, { body })
      }
      const query = `query($author: CommitAuthor, $since: GitTimestamp, $until: GitTimestamp) {
        repository(owner: "local", name: "authors") { object(expression: "main") { ... on Commit {
          history(first: 9, author: $author, since: $since, until: $until) { totalCount nodes { message } }
        } } } }`
      const messages = (variables: Record<string, unknown>) =>
        Effect.map(Rest.graphql(query, variables), ({ data, errors }) => {
          assert.isUndefined(errors)
          const { nodes, totalCount } = data.repository.object.history
          assert.strictEqual(totalCount, nodes.length)
          return nodes.map(({ message }: Rest.Json) => message)
        })
      const by = (...emails: ReadonlyArray<string>) => messages({ author: { emails } })
      assert.deepStrictEqual(yield* by("one@x"), ["one"])
      assert.deepStrictEqual(yield* by("one@x", "two@x"), ["two", "one"])
      assert.deepStrictEqual(yield* by("ne@x"), [])
      assert.deepStrictEqual(yield* by("a\0b"), [])
      assert.deepStrictEqual(yield* by("a\0b", "a\nb", "two@x"), ["two"])
      assert.strictEqual((yield* messages({ until: "+012000-01-01T00:00:00Z" })).length, 4)
      assert.deepStrictEqual(yield* messages({ since: "+012000-01-01T00:00:00Z" }), [])
      const rest = (query: string) =>
        Effect.map(Rest.get(`/repos/local/authors/commits?${query}`), ({ body }) => body.length)
      assert.strictEqual(yield* rest("until=9999-12-31T23:59:59Z"), 4)
      assert.strictEqual(yield* rest("since=9999-12-31T23:59:59Z"), 0)
    })
  )

  it.effect("the web's addresses of files and archives lead to the host's, and Git LFS is refused", () =>
    Effect.gen(function* () {
      const { token, url } = yield* HostServer
      yield* Rest.repository("web", { "data/a b.json": "1\n" }, { private: true })
      const fetched = (path: string, init: RequestInit = {}) =>
        Effect.promise(() =>
          fetch(`${url}/local/web${path}`, {
            ...init,
            headers: { authorization: `Bearer ${token}`, "user-agent": "test", ...init.headers }
          })
        )
      for (const ref of ["main", "refs/heads/main"]) {
        const file = yield* fetched(`/raw/${ref}/data/a%20b.json`)
        assert.deepStrictEqual([file.status, yield* Effect.promise(() => file.text())], [200, "1\n"])
        for (const [ending, type] of [
          ["tar.gz", "application/x-gzip"],
          ["zip", "application/zip"]
        ] as const) {
          const archive = yield* fetched(`/archive/${ref}.${ending}`)
          assert.deepStrictEqual([archive.status, archive.headers.get("content-type")], [200, type])
          yield* Effect.promise(() => archive.arrayBuffer())
        }
      }
      assert.strictEqual((yield* fetched("/archive/main.rar")).status, 404)
      assert.strictEqual(
        (yield* fetched("/raw/main/data/a%20b.json", { headers: { authorization: "" } })).status,
        404
      )
      // These are valid names of repositories.
      yield* Rest.repository("raw", { "a.json": "1\n" })
      assert.strictEqual(
        (yield* Effect.promise(() =>
          fetch(`${url}/repos/local/raw/contents/a.json`, { headers: { "user-agent": "test" } })
        )).status,
        200
      )
      assert.strictEqual((yield* Rest.get("/raw/local/raw/main/a.json")).status, 200)
      for (const address of ["/info/lfs/objects/batch", ".git/info/lfs/objects/batch"]) {
        const refused = yield* fetched(address, { method: "POST", body: "{}" })
        assert.strictEqual(refused.status, 501)
        assert.match(yield* Effect.promise(() => refused.text()), /does not store Git LFS objects/)
      }
    })
  )
})
