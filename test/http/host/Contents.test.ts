import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { assert } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { HostServer } from "../../support/host/HostServer.js"
import { inEachVersion } from "../../support/host/inEachVersion.js"
import * as Rest from "../../support/host/Rest.js"

const put = (repo: string, path: string, body: Record<string, unknown>) =>
  Rest.request("PUT", `/repos/local/${repo}/contents/${path}`, { body: { message: "write", ...body } })

const remove = (repo: string, path: string, body: Record<string, unknown>) =>
  Rest.request("DELETE", `/repos/local/${repo}/contents/${path}`, { body: { message: "delete", ...body } })

const content = Rest.base64("{}\n")
const other = Rest.base64("[]\n")
const none = "0123456789012345678901234567890123456789"

inEachVersion("contents", {}, (it) => {
  it.effect("the first PUT makes the branch of an empty repository", () =>
    Effect.gen(function* () {
      yield* Rest.repository("first")
      const empty = yield* Rest.get("/repos/local/first/contents/a.json")
      assert.deepStrictEqual([empty.status, empty.body.message], [404, "This repository is empty."])
      const made = yield* put("first", "a.json", { content, branch: "trunk" })
      assert.strictEqual(made.status, 201)
      assert.deepStrictEqual(made.body.commit.parents, [])
      assert.strictEqual((yield* Rest.get("/repos/local/first/branches/trunk")).status, 200)
    })
  )

  it.effect("every refusal has GitHub's status and words", () =>
    Effect.gen(function* () {
      yield* Rest.repository("words", { "data/a.json": "{}\n" })
      const { sha } = (yield* Rest.get("/repos/local/words/contents/data/a.json")).body
      const said = (answer: Rest.RestAnswer) => [answer.status, answer.body.message, answer.body.errors]
      assert.deepStrictEqual(said(yield* put("words", "data/a.json", { content })), [
        422,
        `Invalid request.\n\n"sha" wasn't supplied.`,
        undefined
      ])
      for (const wrong of [none, "nonsense"]) {
        assert.deepStrictEqual(said(yield* put("words", "data/a.json", { content, sha: wrong })), [
          409,
          `data/a.json does not match ${wrong}`,
          undefined
        ])
        assert.deepStrictEqual(said(yield* remove("words", "data/a.json", { sha: wrong })), [
          409,
          `data/a.json does not match ${wrong}`,
          undefined
        ])
      }
      assert.deepStrictEqual(said(yield* put("words", "data/a.json", { content, sha: null })), [
        422,
        "Invalid request.\n\nFor 'properties/sha', nil is not a string.",
        undefined
      ])
      assert.deepStrictEqual(
        said(yield* put("words", "b.json", { content: "%%%" }))[1],
        "content is not valid Base64"
      )
      assert.deepStrictEqual(said(yield* put("words", "b.json", {})), [
        422,
        `Invalid request.\n\n"content" wasn't supplied.`,
        undefined
      ])
      const unbranched = yield* put("words", "data/a.json", { content, sha: none, branch: "missing" })
      assert.strictEqual(unbranched.status, 404)
      const half = yield* put("words", "b.json", { content, committer: { name: "Ada" } })
      assert.deepStrictEqual(said(half).slice(0, 2), [422, `Invalid request.\n\n"email" wasn't supplied.`])
      assert.strictEqual((yield* remove("words", "gone.json", { sha })).status, 404)
      assert.strictEqual((yield* Rest.get("/repos/local/words/contents/gone.json")).status, 404)
      assert.strictEqual((yield* Rest.get("/repos/local/words/contents/data/a.json?ref=gone")).status, 404)
      const directory = yield* put("words", "data", { content })
      assert.strictEqual(directory.status, 422)
    })
  )

  it.effect("a sha is ignored on a path that has vanished, and a branch in the query by PUT", () =>
    Effect.gen(function* () {
      yield* Rest.repository("vanished", { "a.json": "{}\n" })
      const made = yield* put("vanished", "b.json?branch=missing", { content, sha: none })
      assert.strictEqual(made.status, 201)
    })
  )

  it.effect("dates of the request are kept, and so is the mode of the file", () =>
    Effect.gen(function* () {
      yield* Rest.repository("dated", { "a.json": "{}\n" })
      const { directory } = yield* HostServer
      const inside = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-C", join(directory, "repos/local/dated.git"), ...args], { encoding: "utf8" })
      const author = { name: "Bob", email: "bob@example.org", date: "2020-02-03T04:05:06+02:00" }
      const committer = { name: "Ada", email: "ada@example.org", date: "2021-02-03T04:05:06Z" }
      const made = yield* put("dated", "b.json", { content, author, committer })
      assert.strictEqual(made.status, 201)
      assert.strictEqual(made.body.commit.author.date, "2020-02-03T02:05:06Z")
      assert.strictEqual(
        inside("log", "-1", "--format=%ad %cd", "--date=iso-strict", "main").trim(),
        "2020-02-03T04:05:06+02:00 2021-02-03T04:05:06+00:00"
      )
      const wrong = yield* put("dated", "c.json", { content, author: { ...author, date: "yesterday" } })
      assert.strictEqual(wrong.status, 422)
      const all = yield* Effect.all(
        Array.from({ length: 8 }, (_, index) => put("dated", `many/${index}.json`, { content, author })),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(
        all.map(({ status }) => status),
        all.map(() => 201)
      )

      const { sha } = (yield* Rest.get("/repos/local/dated/contents/a.json")).body
      const head = inside("rev-parse", "main").trim()
      const tree = yield* Rest.request("POST", "/repos/local/dated/git/trees", {
        body: { base_tree: head, tree: [{ path: "run.sh", mode: "100755", type: "blob", sha }] }
      })
      const commit = yield* Rest.request("POST", "/repos/local/dated/git/commits", {
        body: { message: "run", tree: tree.body.sha, parents: [head] }
      })
      yield* Rest.request("PATCH", "/repos/local/dated/git/refs/heads/main", {
        body: { sha: commit.body.sha }
      })
      assert.strictEqual((yield* put("dated", "run.sh", { content: other, sha })).status, 200)
      assert.match(inside("ls-tree", "main", "run.sh"), /^100755 /)
      assert.strictEqual(inside("show", "main:run.sh"), "[]\n")
    })
  )

  it.effect("update returns 200, delete returns no content, and people are kept", () =>
    Effect.gen(function* () {
      yield* Rest.repository("people", { "a.json": "{}\n" })
      const { sha } = (yield* Rest.get("/repos/local/people/contents/a.json")).body
      const committer = { name: "Ada", email: "ada@example.org" }
      const author = { name: "Bob", email: "bob@example.org" }
      const updated = yield* put("people", "a.json", { content: other, sha, committer, author })
      assert.strictEqual(updated.status, 200)
      assert.notProperty(updated.body.content, "content")
      assert.strictEqual(updated.body.commit.author.name, "Bob")
      assert.strictEqual(updated.body.commit.committer.email, "ada@example.org")
      const gone = yield* remove("people", "a.json", { sha: updated.body.content.sha })
      assert.deepStrictEqual([gone.status, gone.body.content], [200, null])
    })
  )

  it.effect("a person without a usable name is refused", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const at = "/repos/local/nobody"
      const head = (yield* Rest.repository("nobody", { "a.json": "{}\n" }))!
      const object = { tag: "v", message: "m", object: head.commit, type: "commit" }
      const post = (path: string, body: object) => Rest.request("POST", `${at}/git/${path}`, { body })
      for (const who of [
        { name: ".", email: "a@x" },
        { name: "a", email: "<>" },
        { name: '";"', email: "a@x" }
      ]) {
        assert.strictEqual((yield* put("nobody", "b.json", { content, author: who })).status, 422)
        const made = { message: "m", tree: head.tree, parents: [head.commit] }
        assert.strictEqual((yield* post("commits", { ...made, committer: who, author: who })).status, 422)
        assert.strictEqual((yield* post("tags", { ...object, tagger: who })).status, 422)
      }
      const tag = yield* post("tags", { ...object, tagger: { name: "Ada, Jr.", email: "<a@x>." } })
      assert.strictEqual(tag.body.tagger.name, "Ada, Jr")
      const text = execFileSync(
        "git",
        ["-C", `${directory}/repos/local/nobody.git`, "cat-file", "tag", tag.body.sha],
        { encoding: "utf8" }
      )
      assert.match(text, /^tagger Ada, Jr <a@x> /m)
    })
  )

  it.effect("content is base64 in lines of sixty, in contents and in blobs", () =>
    Effect.gen(function* () {
      const text = `${JSON.stringify({ text: "ü".repeat(200) })}\n`
      yield* Rest.repository("wrapped", { "a.json": text })
      const file = (yield* Rest.get("/repos/local/wrapped/contents/a.json")).body
      const blob = (yield* Rest.get(`/repos/local/wrapped/git/blobs/${file.sha}`)).body
      for (const shown of [file.content, blob.content]) {
        const lines = shown.split("\n")
        assert.strictEqual(lines.pop(), "")
        assert.isTrue(lines.slice(0, -1).every((line: string) => line.length === 60))
        assert.strictEqual(Buffer.from(shown, "base64").toString(), text)
      }
      assert.strictEqual(file.size, Buffer.byteLength(text))
    })
  )

  it.effect("a known version returns 304, only for its own token and media type", () =>
    Effect.gen(function* () {
      yield* Rest.repository("etag", { "data/a.json": "{}\n" })
      for (const path of [
        "contents/data/a.json",
        "contents/data",
        "git/trees/main",
        "commits/main",
        "branches/main",
        ""
      ]) {
        const address = `/repos/local/etag${path === "" ? "" : `/${path}`}`
        const first = yield* Rest.get(address)
        const etag = first.headers.get("etag")!
        assert.match(etag, /^"[0-9a-f]{40,64}"$/)
        const again = yield* Rest.get(address, { headers: { "if-none-match": `W/${etag}` } })
        assert.deepStrictEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag])
        assert.isNotNull(again.headers.get("x-ratelimit-remaining"))
        const raw = yield* Rest.get(address, {
          headers: { "if-none-match": etag, accept: "application/vnd.github.object+json" }
        })
        assert.strictEqual(raw.status, 200)
      }
      const before = (yield* Rest.get("/repos/local/etag/contents/data/a.json")).headers.get("etag")!
      const { sha } = (yield* Rest.get("/repos/local/etag/contents/data/a.json")).body
      yield* put("etag", "data/a.json", { content: other, sha })
      const after = yield* Rest.get("/repos/local/etag/contents/data/a.json", {
        headers: { "if-none-match": before }
      })
      assert.strictEqual(after.status, 200)
    })
  )

  it.effect("a directory shows a thousand entries and no sign of more", () =>
    Effect.gen(function* () {
      const files = Object.fromEntries(
        Array.from({ length: 1005 }, (_, index) => [
          `data/${String(index).padStart(5, "0")}.json`,
          `${index}\n`
        ])
      )
      yield* Rest.repository("crowd", files)
      const listed = yield* Rest.get("/repos/local/crowd/contents/data")
      assert.strictEqual(listed.body.length, 1000)
      assert.isNull(listed.headers.get("link"))
      const tree = yield* Rest.get("/repos/local/crowd/git/trees/main:data")
      assert.deepStrictEqual([tree.body.tree.length, tree.body.truncated], [1005, false])
    })
  )

  it.effect("directories, and one as an object; links are followed, submodules described", () =>
    Effect.gen(function* () {
      const { directory, version } = yield* HostServer
      yield* Rest.repository("kinds", { "data/a.json": "{}\n" })
      const { sha } = (yield* Rest.get("/repos/local/kinds/contents/data/a.json")).body
      const link = (yield* Rest.request("POST", "/repos/local/kinds/git/blobs", {
        body: { content: "data/a.json" }
      })).body
      const head = (yield* Rest.get("/repos/local/kinds/git/ref/heads/main")).body.object.sha
      const tree = yield* Rest.request("POST", "/repos/local/kinds/git/trees", {
        body: {
          base_tree: head,
          tree: [
            { path: "link", mode: "120000", type: "blob", sha: link.sha },
            { path: "module", mode: "160000", type: "commit", sha: head },
            {
              path: ".gitmodules",
              mode: "100644",
              type: "blob",
              content: '[submodule "module"]\n\tpath = module\n\turl = https://example.org/module.git\n'
            },
            { path: "run.sh", mode: "100755", type: "blob", sha }
          ]
        }
      })
      const commit = yield* Rest.request("POST", "/repos/local/kinds/git/commits", {
        body: { message: "kinds", tree: tree.body.sha, parents: [head] }
      })
      yield* Rest.request("PATCH", "/repos/local/kinds/git/refs/heads/main", {
        body: { sha: commit.body.sha }
      })
      const types = (answer: Rest.RestAnswer) =>
        answer.body.map((entry: Rest.Json) => [entry.name, entry.type])
      const expected = (module: string) => [
        [".gitmodules", "file"],
        ["data", "dir"],
        ["link", "symlink"],
        ["module", module],
        ["run.sh", "file"]
      ]
      const listed = expected(version === "2026-03-10" ? "submodule" : "file")
      for (const path of ["contents", "contents/"]) {
        assert.deepStrictEqual(types(yield* Rest.get(`/repos/local/kinds/${path}`)), listed)
      }
      const followed = yield* Rest.get("/repos/local/kinds/contents/link")
      assert.deepStrictEqual([followed.body.type, followed.body.sha], ["file", sha])
      const module = yield* Rest.get("/repos/local/kinds/contents/module")
      assert.deepStrictEqual(
        [module.body.type, module.body.submodule_git_url],
        ["submodule", "https://example.org/module.git"]
      )
      const object = yield* Rest.get("/repos/local/kinds/contents/data", {
        headers: { accept: "application/vnd.github.object+json" }
      })
      assert.deepStrictEqual([object.body.type, object.body.entries.length], ["dir", 1])
      execFileSync("git", ["--git-dir", join(directory, "repos/local/kinds.git"), "fsck", "--strict"], {
        stdio: "pipe"
      })
    })
  )

  it.effect("size bands: JSON up to 1 MB, raw and blobs above it", () =>
    Effect.gen(function* () {
      const large = "x".repeat(1024 * 1024 + 1)
      yield* Rest.repository("bands", { "small.txt": "x".repeat(1024 * 1024), "large.txt": large })
      const small = (yield* Rest.get("/repos/local/bands/contents/small.txt")).body
      assert.strictEqual(small.encoding, "base64")
      const shown = (yield* Rest.get("/repos/local/bands/contents/large.txt")).body
      assert.deepStrictEqual([shown.encoding, shown.content, shown.size], ["none", "", large.length])
      const raw = yield* Rest.get("/repos/local/bands/contents/large.txt", {
        headers: { accept: "application/vnd.github.raw+json" }
      })
      assert.strictEqual(raw.text.length, large.length)
      const blob = (yield* Rest.get(`/repos/local/bands/git/blobs/${shown.sha}`)).body
      assert.strictEqual(Buffer.from(blob.content, "base64").length, large.length)
    })
  )

  it.effect("bytes of users never run: text or octets, sandboxed", () =>
    Effect.gen(function* () {
      yield* Rest.repository("hostile", {
        "x.html": "<script>alert(1)</script>",
        "x.bin": Buffer.from([0, 255, 1])
      })
      const raw = { headers: { accept: "application/vnd.github.raw" } }
      for (const path of ["/repos/local/hostile/contents/x.html", "/raw/local/hostile/main/x.html"]) {
        const answer = yield* Rest.get(path, raw)
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.headers.get("content-type"), "text/plain; charset=utf-8")
        assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
        assert.strictEqual(answer.headers.get("content-security-policy"), "default-src 'none'; sandbox")
      }
      const binary = yield* Rest.get("/raw/local/hostile/main/x.bin")
      assert.strictEqual(binary.headers.get("content-type"), "application/octet-stream")
    })
  )

  it.effect("thirty writers of different files on one branch all succeed, in one line of commits", () =>
    Effect.gen(function* () {
      yield* Rest.repository("queue", { "a.json": "{}\n" })
      const answers = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, index) => index),
        (index) => put("queue", `data/${index}.json`, { content }),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      const commits = (yield* Rest.get("/repos/local/queue/commits?per_page=100")).body
      assert.strictEqual(commits.length, 31)
      assert.isTrue(commits.every((commit: Rest.Json) => commit.parents.length <= 1))
    })
  )

  it.effect("a write makes no branch of one that is deleted meanwhile", () =>
    Effect.gen(function* () {
      const { directory, repositories } = yield* HostServer
      const { commit } = (yield* Rest.repository("deleted", { "a.json": "{}\n" }))!
      const path = join(directory, "repos/local/deleted.git")
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-C", path, ...args], { encoding: "utf8" }).trim()
      const writer = {
        id: "test",
        login: "test",
        grants: [{ repository: "*", access: "write" as const }]
      }
      const hosted = yield* repositories.openForRead(writer, "local", "deleted")
      // A large file is written as a blob before the commit, after the branch was found.
      const dates = [undefined, "2020-01-01T00:00:00Z"]
      for (const [index, date] of dates.entries()) {
        git("branch", "side", commit)
        const bytes = Buffer.alloc(2_000_000, `${index}`)
        const oid = execFileSync("git", ["hash-object", "--stdin"], { input: bytes, encoding: "utf8" }).trim()
        const object = join(path, "objects", oid.slice(0, 2), oid.slice(2))
        const author = date === undefined ? {} : { author: { name: "a", email: "a@x", date } }
        const written = yield* hosted.git.withExclusiveAccess(
          Effect.gen(function* () {
            const writing = yield* Effect.fork(
              put("deleted", "b.json", { branch: "side", content: Rest.base64(bytes), ...author })
            )
            while (!existsSync(object)) yield* Effect.promise(() => setImmediate())
            git("update-ref", "-d", "refs/heads/side")
            return writing
          })
        )
        const answer = yield* Fiber.join(written)
        assert.deepStrictEqual([answer.status, answer.body.message], [404, "Branch side not found"])
        assert.strictEqual(git("for-each-ref", "--format=%(refname)"), "refs/heads/main")
      }
    }).pipe(Effect.scoped, Effect.withClock(Clock.make()))
  )

  it.effect("raw finds branches with slashes, and 404s in plain text", () =>
    Effect.gen(function* () {
      const head = yield* Rest.repository("rawness", { "data/a.json": "{}\n" })
      yield* Rest.request("POST", "/repos/local/rawness/git/refs", {
        body: { ref: "refs/heads/feature/one", sha: head!.commit }
      })
      assert.strictEqual((yield* Rest.get("/raw/local/rawness/feature/one/data/a.json")).text, "{}\n")
      const pinned = yield* Rest.get(`/raw/local/rawness/${head!.commit}/data/a.json`)
      assert.match(pinned.headers.get("cache-control")!, /immutable/)
      const missing = yield* Rest.get("/raw/local/rawness/main/none.json")
      assert.deepStrictEqual([missing.status, missing.text], [404, "404: Not Found"])
      const anonymous = yield* Rest.get("/raw/local/rawness/main/data/a.json", { token: null })
      assert.strictEqual(anonymous.status, 200)
    })
  )

  it.effect("readme, license and the description of the repository", () =>
    Effect.gen(function* () {
      const at = "/repos/local/whole"
      yield* Rest.repository("whole", {
        "README.txt": "text\n",
        "readme.md": "# whole\n",
        "LICENSE-notes": "n\n",
        LICENSE: "Do what you like.\n",
        "data/ReadMe": "below\n"
      })
      const readme = yield* Rest.get(`${at}/readme`)
      assert.deepStrictEqual(
        [readme.body.path, Buffer.from(readme.body.content, "base64").toString()],
        ["readme.md", "# whole\n"]
      )
      const etag = readme.headers.get("etag")!
      assert.strictEqual(
        (yield* Rest.get(`${at}/readme`, { headers: { "if-none-match": etag } })).status,
        304
      )
      const raw = { headers: { accept: "application/vnd.github.raw+json" } }
      assert.strictEqual((yield* Rest.get(`${at}/readme`, raw)).text, "# whole\n")
      assert.strictEqual((yield* Rest.get(`${at}/readme/data`)).body.path, "data/ReadMe")
      assert.strictEqual((yield* Rest.get(`${at}/readme?ref=none`)).status, 404)
      assert.strictEqual((yield* Rest.get(`${at}/readme/..`)).status, 404)
      const license = (yield* Rest.get(`${at}/license`)).body
      assert.deepStrictEqual([license.path, license.license.key], ["LICENSE", "other"])
      assert.deepStrictEqual((yield* Rest.get(`${at}/languages`)).body, {})
      assert.deepStrictEqual((yield* Rest.get(`${at}/topics`)).body, { names: [] })
      assert.deepStrictEqual((yield* Rest.get(`${at}/releases`)).body, [])
      assert.strictEqual((yield* Rest.get(`${at}/releases/latest`)).status, 404)
      for (const [path, author] of [
        ["1", undefined],
        ["2", undefined],
        ["3", { name: "Ada", email: "ada@example.org" }]
      ] as const)
        yield* Rest.request("PUT", `${at}/contents/${path}`, { body: { message: "m", content: "", author } })
      const told = (query: string) =>
        Effect.map(Rest.get(`${at}/contributors${query}`), ({ body }) =>
          body
            .filter(({ name }: Rest.Json) => name !== "Chainstore")
            .map((one: Rest.Json) => [one.login ?? one.name, one.type, one.contributions])
        )
      assert.deepStrictEqual(yield* told(""), [["local", "User", 2]])
      assert.deepStrictEqual(yield* told("?anon=1"), [
        ["local", "User", 2],
        ["Ada", "Anonymous", 1]
      ])
      yield* Rest.repository("whole-nothing")
      assert.strictEqual((yield* Rest.get("/repos/local/whole-nothing/contributors")).status, 204)
      assert.strictEqual((yield* Rest.get("/repos/local/whole-nothing/readme")).status, 404)
      assert.strictEqual((yield* Rest.get("/repos/local/whole-nothing/license")).status, 404)
    })
  )
})
