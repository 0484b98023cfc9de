import { execFileSync } from "node:child_process"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer } from "../../support/host/HostServer.js"
import { inEachVersion } from "../../support/host/inEachVersion.js"
import * as Rest from "../../support/host/Rest.js"

const write = (repo: string, path: string, text: string, more: Record<string, unknown> = {}) =>
  Effect.gen(function* () {
    const query = more["branch"] === undefined ? "" : `?ref=${more["branch"]}`
    const known = yield* Rest.get(`/repos/local/${repo}/contents/${path}${query}`)
    const answer = yield* Rest.request("PUT", `/repos/local/${repo}/contents/${path}`, {
      body: { message: `write ${path}`, content: Rest.base64(text), sha: known.body?.sha, ...more }
    })
    assert.isTrue(answer.status === 200 || answer.status === 201, answer.text)
    return answer.body.commit.sha as string
  })

inEachVersion("commits", {}, (it) => {
  it.effect("are listed by branch, path and time, page by page with absolute links", () =>
    Effect.gen(function* () {
      const { api } = yield* HostServer
      yield* Rest.repository("list", { "a.json": "0\n" })
      for (let index = 1; index <= 5; index++)
        yield* write("list", index % 2 === 0 ? "a.json" : "b.json", `${index}\n`)
      const first = yield* Rest.get("/repos/local/list/commits?per_page=2")
      assert.strictEqual(first.body.length, 2)
      assert.match(
        first.headers.get("link")!,
        new RegExp(`^<${api}/repos/local/list/commits\\?per_page=2&page=2>; rel="next"`)
      )
      assert.match(first.headers.get("link")!, /&page=3>; rel="last"$/)
      const some = yield* Rest.get("/repos/local/list/commits?path=b.json&per_page=1")
      assert.match(some.headers.get("link")!, /&page=2>; rel="next", .*&page=3>; rel="last"$/)
      const last = yield* Rest.get("/repos/local/list/commits?per_page=2&page=3")
      assert.notMatch(last.headers.get("link")!, /rel="last"/)
      assert.strictEqual(last.body.length, 2)
      assert.notMatch(last.headers.get("link")!, /rel="next"/)
      assert.match(last.headers.get("link")!, /page=2>; rel="prev", .*page=1>; rel="first"/)
      const byPath = yield* Rest.get("/repos/local/list/commits?path=b.json")
      assert.strictEqual(byPath.body.length, 3)
      assert.strictEqual(
        (yield* Rest.get("/repos/local/list/commits?until=2001-01-01T00:00:00Z")).body.length,
        0
      )
      assert.strictEqual(
        (yield* Rest.get("/repos/local/list/commits?since=2001-01-01T00:00:00Z")).body.length,
        6
      )
      assert.strictEqual((yield* Rest.get("/repos/local/list/commits?since=yesterdayish")).status, 400)
      assert.strictEqual((yield* Rest.get("/repos/local/list/commits?sha=none")).status, 404)
    })
  )

  it.effect("and branches, tags and refs name their last page while there is another", () =>
    Effect.gen(function* () {
      const made = yield* Rest.repository("lists", { "a.json": "0\n" })
      for (const ref of ["heads/b", "heads/c", "tags/v1", "tags/v2", "tags/v3"]) {
        const body = { ref: `refs/${ref}`, sha: made!.commit }
        assert.strictEqual((yield* Rest.request("POST", "/repos/local/lists/git/refs", { body })).status, 201)
      }
      for (const [path, pages] of [
        ["branches?per_page=2", 2],
        ["tags?per_page=1", 3],
        ["git/matching-refs/tags/?per_page=2", 2],
        ["git/matching-refs/?per_page=2", 3],
        ["git/matching-refs?per_page=2", 3]
      ] as const) {
        const { headers } = yield* Rest.get(`/repos/local/lists/${path}`)
        assert.match(headers.get("link")!, new RegExp(`&page=${pages}>; rel="last"$`), path)
        const end = yield* Rest.get(`/repos/local/lists/${path}&page=${pages}`)
        assert.notMatch(end.headers.get("link")!, /rel="last"/, path)
      }
    })
  )

  it.effect("and a page of any number is that page, and of any size at most a hundred", () =>
    Effect.gen(function* () {
      const made = yield* Rest.repository("far", { "a.json": "0\n" })
      const create = (ref: string) =>
        Rest.request("POST", "/repos/local/far/git/refs", { body: { ref, sha: made!.commit } })
      for (let number = 0; number < 40; number++) yield* create(`refs/heads/b${number}`)
      const count = (query: string) =>
        Effect.map(Rest.get(`/repos/local/far/branches?${query}`), ({ body }) => body.length)
      for (const page of ["2", "1000000", "1000000000", "9".repeat(30)])
        assert.strictEqual(yield* count(`page=${page}&per_page=100`), 0, page)
      for (const size of ["100", "101", "1000000000", "9".repeat(30)])
        assert.strictEqual(yield* count(`per_page=${size}`), 41, size)
      assert.strictEqual(yield* count("per_page=x&page=-1"), 30)
    })
  )

  it.effect("show their files 300 to a page and 3,000 in all", () =>
    Effect.gen(function* () {
      yield* Rest.repository("many", { "a.json": "0\n" })
      const head = (yield* Rest.get("/repos/local/many/git/ref/heads/main")).body.object.sha
      const tree = yield* Rest.request("POST", "/repos/local/many/git/trees", {
        body: {
          base_tree: head,
          tree: Array.from({ length: 3100 }, (_, index) => ({
            path: `d/${String(index).padStart(5, "0")}`,
            mode: "100644",
            type: "blob",
            content: `${index % 50}\n`
          }))
        }
      })
      const commit = yield* Rest.request("POST", "/repos/local/many/git/commits", {
        body: { message: "many", tree: tree.body.sha, parents: [head] }
      })
      const first = yield* Rest.get(`/repos/local/many/commits/${commit.body.sha}`)
      assert.deepStrictEqual([first.body.files.length, first.body.stats.additions], [300, 3100])
      assert.match(first.headers.get("link")!, /page=2>; rel="next", .*page=10>; rel="last"/)
      assert.match(first.body.files[0].patch, /^@@ -0,0 \+1 @@\n\+0$/)
      const last = yield* Rest.get(`/repos/local/many/commits/${commit.body.sha}?page=10`)
      assert.strictEqual(last.body.files.length, 300)
      assert.strictEqual(
        (yield* Rest.get(`/repos/local/many/commits/${commit.body.sha}?page=11`)).body.files.length,
        0
      )
    })
  )

  it.effect("name renames, removals and line counts; a root commit adds everything", () =>
    Effect.gen(function* () {
      const text = Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join("")
      const root = (yield* Rest.repository("changes", {
        "old.txt": text,
        "gone.txt": "x\n",
        "kept.txt": "1\n"
      }))!
      const blob = (yield* Rest.get("/repos/local/changes/contents/old.txt")).body.sha
      const entry = (path: string, more: object) => ({ path, mode: "100644", type: "blob", ...more })
      const tree = yield* Rest.request("POST", "/repos/local/changes/git/trees", {
        body: {
          base_tree: root.commit,
          tree: [
            entry("old.txt", { sha: null }),
            entry("new\u00fc.txt", { sha: blob }),
            entry("gone.txt", { sha: null }),
            entry("kept.txt", { content: "1\n2\n" })
          ]
        }
      })
      const commit = yield* Rest.request("POST", "/repos/local/changes/git/commits", {
        body: { message: "changes", tree: tree.body.sha, parents: [root.commit] }
      })
      const shown = (yield* Rest.get(`/repos/local/changes/commits/${commit.body.sha}`)).body
      assert.deepStrictEqual(
        shown.files.map((file: Rest.Json) => [
          file.filename,
          file.status,
          file.additions,
          file.deletions,
          file.previous_filename
        ]),
        [
          ["gone.txt", "removed", 0, 1, undefined],
          ["kept.txt", "modified", 1, 0, undefined],
          ["new\u00fc.txt", "renamed", 0, 0, "old.txt"]
        ]
      )
      const first = (yield* Rest.get(`/repos/local/changes/commits/${root.commit}`)).body
      assert.deepStrictEqual(
        first.files.map((file: Rest.Json) => file.status),
        ["added", "added", "added"]
      )
      assert.strictEqual(
        (yield* Rest.get(`/repos/local/changes/commits/${commit.body.sha.slice(0, 8)}`)).status,
        200
      )
      assert.strictEqual((yield* Rest.get("/repos/local/changes/commits/nowhere")).status, 422)
    })
  )

  it.effect("the head is polled cheapest by its sha alone", () =>
    Effect.gen(function* () {
      const head = (yield* Rest.repository("poll", { "a.json": "0\n" }))!
      const sha = { accept: "application/vnd.github.sha" }
      const first = yield* Rest.get("/repos/local/poll/commits/main", { headers: sha })
      assert.deepStrictEqual([first.text, first.headers.get("etag")], [head.commit, `"${head.commit}"`])
      const same = { headers: { ...sha, "if-none-match": `"${head.commit}"` } }
      assert.strictEqual((yield* Rest.get("/repos/local/poll/commits/main", same)).status, 304)
      yield* write("poll", "a.json", "1\n")
      assert.strictEqual((yield* Rest.get("/repos/local/poll/commits/main", same)).status, 200)
    })
  )

  it.effect("statuses, checks, comments and pull requests are those of the ref, not parts of its name", () =>
    Effect.gen(function* () {
      const { api } = yield* HostServer
      const { commit } = (yield* Rest.repository("beside", { "a.json": "0\n" }))!
      const at = "/repos/local/beside"
      for (const name of ["feature/x", "v1/status"])
        yield* Rest.request("POST", `${at}/git/refs`, { body: { ref: `refs/heads/${name}`, sha: commit } })
      const later = yield* write("beside", "a.json", "1\n")
      for (const ref of ["feature/x", "feature%2Fx", commit, "main"]) {
        const { body, status } = yield* Rest.get(`${at}/commits/${ref}/status`)
        const sha = ref === "main" ? later : commit
        assert.deepStrictEqual(
          [status, body?.state, body?.sha, body?.total_count, body?.statuses, body?.commit_url],
          [200, "pending", sha, 0, [], `${api}${at}/commits/${sha}`],
          ref
        )
        assert.deepStrictEqual((yield* Rest.get(`${at}/commits/${ref}/statuses`)).body, [])
        for (const kind of ["check_runs", "check_suites"]) {
          const answer = yield* Rest.get(`${at}/commits/${ref}/${kind.replace("_", "-")}`)
          assert.deepStrictEqual(answer.body, { total_count: 0, [kind]: [] })
        }
      }
      for (const kind of ["pulls", "comments"])
        assert.deepStrictEqual((yield* Rest.get(`${at}/commits/${commit}/${kind}`)).body, [])
      const heads = (sha: string) =>
        Effect.map(Rest.get(`${at}/commits/${sha}/branches-where-head`), ({ body }) =>
          body.map((branch: Rest.Json) => [branch.name, branch.commit.sha])
        )
      assert.deepStrictEqual(yield* heads(later), [["main", later]])
      assert.deepStrictEqual(yield* heads(commit), [
        ["feature/x", commit],
        ["v1/status", commit]
      ])
      // A single segment is a plain name.
      assert.strictEqual((yield* Rest.get(`${at}/commits/v1%2Fstatus`)).body.sha, commit)
      for (const [path, status] of [
        ["none/status", 404],
        ["none/statuses", 404],
        ["none/check-runs", 422],
        ["none/check-suites", 422],
        ["none/pulls", 422],
        ["none/comments", 422],
        ["none/branches-where-head", 422],
        ["main/unheard-of", 422]
      ] as const)
        assert.strictEqual((yield* Rest.get(`${at}/commits/${path}`)).status, status, path)
      yield* Rest.repository("beside-nothing")
      for (const [path, status] of [
        ["status", 404],
        ["pulls", 409],
        ["branches-where-head", 409]
      ] as const)
        assert.strictEqual(
          (yield* Rest.get(`/repos/local/beside-nothing/commits/main/${path}`)).status,
          status,
          path
        )
    })
  )

  it.effect("are compared: ahead, behind, diverged, identical", () =>
    Effect.gen(function* () {
      const root = (yield* Rest.repository("compare", { "a.json": "0\n" }))!.commit
      yield* Rest.request("POST", "/repos/local/compare/git/refs", {
        body: { ref: "refs/heads/side", sha: root }
      })
      const main = yield* write("compare", "b.json", "1\n")
      const side = yield* write("compare", "c.json", "1\n", { branch: "side" })
      const compare = (basehead: string) => Rest.get(`/repos/local/compare/compare/${basehead}`)
      const told = ({ body }: Rest.RestAnswer) => [
        body.status,
        body.ahead_by,
        body.behind_by,
        body.files.map((file: Rest.Json) => file.filename)
      ]
      assert.deepStrictEqual(told(yield* compare("main...side")), ["diverged", 1, 1, ["c.json"]])
      assert.deepStrictEqual(told(yield* compare(`${root}...main`)), ["ahead", 1, 0, ["b.json"]])
      assert.deepStrictEqual(told(yield* compare(`main...${root}`)), ["behind", 0, 1, []])
      assert.deepStrictEqual(told(yield* compare("main...main")), ["identical", 0, 0, []])
      assert.deepStrictEqual((yield* compare("main...side")).body.merge_base_commit.sha, root)
      assert.deepStrictEqual((yield* compare(`${root}...side`)).body.commits[0].sha, side)
      assert.strictEqual((yield* compare("main...nowhere")).status, 404)
      assert.strictEqual((yield* compare("main")).status, 404)
      assert.notStrictEqual(main, side)
    })
  )

  it.effect("are not shown as empty if Git could not read them", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const first = (yield* Rest.repository("damaged", { "a.json": "1\n" }))!.commit
      const at = "/repos/local/damaged"
      const git = (input: string, ...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-C", `${directory}/repos/local/damaged.git`, ...args], {
          input,
          encoding: "utf8"
        }).trim()
      const commit = (tree: string, parent: string) =>
        git(
          `tree ${tree}\nparent ${parent}\nauthor a <a@x> 1 +0000\ncommitter a <a@x> 1 +0000\n\nm\n`,
          ...["hash-object", "-t", "commit", "-w", "--stdin"]
        )
      const missing = "1".repeat(40)
      const holed = commit(git(`040000 tree ${missing}\td\n`, "mktree", "--missing"), first)
      git("", "update-ref", "refs/heads/holed", holed)
      assert.strictEqual((yield* Rest.get(`${at}/commits/${first}`)).body.files.length, 1)
      assert.strictEqual((yield* Rest.get(`${at}/commits/${holed}`)).status, 502)
      assert.strictEqual((yield* Rest.get(`${at}/compare/${first}...${holed}`)).status, 502)
      const orphan = commit(git("", "rev-parse", `${first}^{tree}`), missing)
      git("", "update-ref", "refs/heads/main", orphan)
      assert.strictEqual((yield* Rest.get(`${at}/contributors?anon=1`)).status, 502)
    })
  )

  it.effect("are merged, reported as already merged, or refused as a conflict", () =>
    Effect.gen(function* () {
      const root = (yield* Rest.repository("merges", { "a.json": "0\n" }))!.commit
      const at = "/repos/local/merges"
      for (const name of ["clean", "clash"]) {
        yield* Rest.request("POST", `${at}/git/refs`, { body: { ref: `refs/heads/${name}`, sha: root } })
      }
      yield* write("merges", "a.json", "main\n")
      yield* write("merges", "b.json", "1\n", { branch: "clean" })
      yield* write("merges", "a.json", "clash\n", { branch: "clash" })
      const merge = (body: unknown) => Rest.request("POST", `${at}/merges`, { body })
      const merged = yield* merge({ base: "main", head: "clean", commit_message: "together" })
      assert.deepStrictEqual(
        [merged.status, merged.body.commit.message, merged.body.parents.length],
        [201, "together", 2]
      )
      assert.strictEqual((yield* Rest.get(`${at}/contents/b.json`)).status, 200)
      assert.strictEqual((yield* merge({ base: "main", head: "clean" })).status, 204)
      const clash = yield* merge({ base: "main", head: "clash" })
      assert.deepStrictEqual([clash.status, clash.body.message], [409, "Merge conflict"])
      assert.deepStrictEqual(
        (yield* merge({ base: "none", head: "clean" })).body.message,
        "Base does not exist"
      )
      assert.deepStrictEqual(
        (yield* merge({ base: "main", head: "none" })).body.message,
        "Head does not exist"
      )
    })
  )

  it.effect("an archive is behind a redirect that carries its own leave", () =>
    Effect.gen(function* () {
      const { url } = yield* HostServer
      yield* Rest.repository("archive", { "data/a.json": "0\n" }, { private: true })
      const redirect = yield* Rest.get("/repos/local/archive/tarball/main")
      const location = redirect.headers.get("location")!
      assert.strictEqual(redirect.status, 302)
      assert.match(location, new RegExp(`^${url}/api/codeload/local/archive/legacy\\.tar\\.gz/main\\?token=`))
      const fetched = (address: string) => Rest.get(address.slice(url.length), { token: null })
      assert.strictEqual((yield* fetched(location)).status, 200)
      assert.strictEqual((yield* fetched(location.split("?")[0]!)).status, 404)
      assert.strictEqual((yield* fetched(location.replace("archive/legacy", "other/legacy"))).status, 404)
    })
  )
})
