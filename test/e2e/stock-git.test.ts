import { execFile, spawn } from "node:child_process"
import { randomFillSync } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { chmod, lstat, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Data, Effect } from "effect"
import { HostServer, layer as hostLayer } from "../support/host/HostServer.js"
import * as Rest from "../support/host/Rest.js"

const run = promisify(execFile)

const workplace = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "chainstore-git-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

class GitFailed extends Data.TaggedError("GitFailed")<{ readonly message: string }> {}

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  Effect.tryPromise({
    try: () =>
      run("git", [...args], {
        cwd,
        maxBuffer: 64 * 1024 * 1024,
        env: {
          PATH: process.env["PATH"],
          HOME: cwd,
          GIT_CONFIG_NOSYSTEM: "1",
          GIT_TERMINAL_PROMPT: "0",
          GIT_AUTHOR_NAME: "Ada",
          GIT_AUTHOR_EMAIL: "ada@example.org",
          GIT_COMMITTER_NAME: "Ada",
          GIT_COMMITTER_EMAIL: "ada@example.org"
        }
      }).then(({ stdout }) => stdout.trim()),
    catch: (error) =>
      new GitFailed({ message: `git ${args.join(" ")}: ${(error as { stderr?: string }).stderr ?? error}` })
  })

const address = (name: string, path = `local/${name}`) =>
  Effect.map(
    HostServer,
    ({ token, url }) => `${url.replace("http://", `http://x-access-token:${token}@`)}/${path}.git`
  )

const many = Object.fromEntries(
  Array.from({ length: 300 }, (_, index) => [`data/things/${index}.json`, `{"_id":"${index}"}\n`])
)

layer(hostLayer({ createOnFirstUse: true }), { timeout: 60_000 })("stock git against the host", (it) => {
  for (const version of ["0", "1", "2"]) {
    it.scoped(`clones and passes fsck with protocol version ${version}`, () =>
      Effect.gen(function* () {
        const directory = yield* workplace
        yield* Rest.repository(`clone-${version}`, many)
        const url = yield* address(`clone-${version}`)
        yield* git(directory, "-c", `protocol.version=${version}`, "clone", "-q", url, "copy")
        const copy = join(directory, "copy")
        yield* git(copy, "fsck", "--strict", "--full")
        assert.strictEqual((yield* git(copy, "ls-files")).split("\n").length, 300)
        assert.strictEqual(
          yield* Effect.promise(() => readFile(join(copy, "data/things/7.json"), "utf8")),
          '{"_id":"7"}\n'
        )
      })
    )
  }

  it.scoped("clones shallow, and deepens", () =>
    Effect.gen(function* () {
      const directory = yield* workplace
      yield* Rest.repository("shallow", { "a.json": "1\n" })
      for (const content of ["2\n", "3\n"]) {
        const { sha } = (yield* Rest.get("/repos/local/shallow/contents/a.json")).body
        yield* Rest.request("PUT", "/repos/local/shallow/contents/a.json", {
          body: { message: "next", content: Rest.base64(content), sha }
        })
      }
      const url = yield* address("shallow")
      yield* git(directory, "clone", "-q", "--depth=1", url, "copy")
      const copy = join(directory, "copy")
      assert.strictEqual(yield* git(copy, "rev-list", "--count", "HEAD"), "1")
      yield* git(copy, "fetch", "-q", "--unshallow")
      assert.strictEqual(yield* git(copy, "rev-list", "--count", "HEAD"), "3")
      yield* git(copy, "fsck", "--strict", "--full")
    })
  )

  it.scoped("clones without blobs, and fetches them when they are looked at", () =>
    Effect.gen(function* () {
      const directory = yield* workplace
      yield* Rest.repository("partial", many)
      const url = yield* address("partial")
      yield* git(directory, "clone", "-q", "--filter=blob:none", "--no-checkout", url, "copy")
      const copy = join(directory, "copy")
      const missing = yield* git(copy, "rev-list", "--objects", "--all", "--missing=print")
      assert.strictEqual(missing.split("\n").filter((line) => line.startsWith("?")).length, 300)
      assert.strictEqual(yield* git(copy, "show", "HEAD:data/things/5.json"), '{"_id":"5"}')
      yield* git(copy, "checkout", "-q", "main")
      yield* git(copy, "fsck", "--strict")
    })
  )

  it.scoped("pushes; REST sees it at once, and the next fetch sees what REST wrote", () =>
    Effect.gen(function* () {
      const directory = yield* workplace
      yield* Rest.repository("push", { "a.json": "1\n" })
      const url = yield* address("push")
      yield* git(directory, "clone", "-q", url, "copy")
      const copy = join(directory, "copy")
      yield* Effect.promise(() => writeFile(join(copy, "b.json"), "pushed\n"))
      yield* git(copy, "add", ".")
      yield* git(copy, "commit", "-q", "-m", "from git")
      yield* git(copy, "push", "-q", "origin", "main")
      const seen = yield* Rest.get("/repos/local/push/contents/b.json", {
        headers: { accept: "application/vnd.github.raw+json" }
      })
      assert.strictEqual(seen.text, "pushed\n")
      const head = (yield* Rest.get("/repos/local/push/git/ref/heads/main")).body.object.sha
      assert.strictEqual(head, yield* git(copy, "rev-parse", "HEAD"))
      yield* Rest.request("PUT", "/repos/local/push/contents/c.json", {
        body: { message: "from REST", content: Rest.base64("rest\n") }
      })
      yield* git(copy, "pull", "-q", "--ff-only")
      assert.strictEqual(yield* git(copy, "log", "--format=%s"), "from REST\nfrom git\nseed")
      yield* git(copy, "fsck", "--strict", "--full")
    })
  )

  it.scoped(
    "refuses a push that is not a fast forward of the branch it saw, and pushes tags and branches",
    () =>
      Effect.gen(function* () {
        const directory = yield* workplace
        yield* Rest.repository("stale", { "a.json": "1\n" })
        const url = yield* address("stale")
        yield* git(directory, "clone", "-q", url, "copy")
        const copy = join(directory, "copy")
        yield* Rest.request("PUT", "/repos/local/stale/contents/c.json", {
          body: { message: "meanwhile", content: Rest.base64("1") }
        })
        yield* git(copy, "commit", "-q", "--allow-empty", "-m", "late")
        const refused = yield* Effect.flip(git(copy, "push", "-q", "origin", "main"))
        assert.match(refused.message, /rejected|fetch first/)
        yield* git(copy, "tag", "-a", "v1", "-m", "one")
        yield* git(copy, "push", "-q", "origin", "HEAD:refs/heads/feature/x", "v1")
        const refs = (yield* Rest.get("/repos/local/stale/git/matching-refs/")).body.map(
          (ref: Rest.Json) => ref.ref
        )
        assert.deepStrictEqual(refs, ["refs/heads/feature/x", "refs/heads/main", "refs/tags/v1"])
        yield* git(copy, "push", "-q", "origin", ":feature/x")
        assert.strictEqual((yield* Rest.get("/repos/local/stale/git/ref/heads/feature/x")).status, 404)
      })
  )

  it.scoped("makes a repository by the first push of a token that may write, and asks others for one", () =>
    Effect.gen(function* () {
      const { url } = yield* HostServer
      const directory = yield* workplace
      yield* git(directory, "init", "-q", "-b", "main", "fresh")
      const fresh = join(directory, "fresh")
      yield* Effect.promise(() => writeFile(join(fresh, "a.json"), "{}\n"))
      yield* git(fresh, "add", ".")
      yield* git(fresh, "commit", "-q", "-m", "first")
      const anonymous = yield* Effect.flip(git(fresh, "push", `${url}/somebody/fresh.git`, "main"))
      assert.match(anonymous.message, /could not read Username|Authentication failed/)
      assert.strictEqual((yield* Rest.get("/repos/somebody/fresh/git/ref/heads/main")).status, 409)
      yield* git(fresh, "push", "-q", yield* address("fresh", "somebody/fresh"), "main")
      assert.strictEqual((yield* Rest.get("/repos/somebody/fresh/contents/a.json")).status, 200)
      const clone = yield* Effect.flip(git(directory, "clone", "-q", `${url}/somebody/fresh.git`, "copy"))
      assert.match(clone.message, /could not read Username|Authentication failed/)
    })
  )

  it.scoped("clones a public repository without a token", () =>
    Effect.gen(function* () {
      const { url } = yield* HostServer
      const directory = yield* workplace
      yield* Rest.repository("open", { "a.json": "1\n" }, { private: false })
      yield* git(directory, "clone", "-q", `${url}/local/open.git`, "copy")
      yield* git(join(directory, "copy"), "fsck", "--strict", "--full")
    })
  )

  it.scoped("takes 12 MB in one chunked push", () =>
    Effect.gen(function* () {
      const directory = yield* workplace
      yield* Rest.repository("large", { "a.json": "1\n" })
      const url = yield* address("large")
      yield* git(directory, "clone", "-q", url, "copy")
      const copy = join(directory, "copy")
      for (const name of ["x.bin", "y.bin"]) {
        const bytes = randomFillSync(Buffer.alloc(6 * 1024 * 1024))
        yield* Effect.promise(() => writeFile(join(copy, name), bytes))
      }
      yield* git(copy, "add", ".")
      yield* git(copy, "commit", "-q", "-m", "large")
      yield* git(copy, "push", "-q", "origin", "main")
      const listed = (yield* Rest.get("/repos/local/large/git/trees/main")).body.tree
      assert.deepStrictEqual(
        listed.map((entry: Rest.Json) => entry.size),
        [2, 6 * 1024 * 1024, 6 * 1024 * 1024]
      )
    })
  )

  it.scoped("links and executable files keep their kind through push, contents, trees and clone", () =>
    Effect.gen(function* () {
      const directory = yield* workplace
      yield* Rest.repository("kinds", { "a.json": "1\n" })
      const url = yield* address("kinds")
      yield* git(directory, "clone", "-q", url, "copy")
      const copy = join(directory, "copy")
      yield* Effect.promise(async () => {
        await writeFile(join(copy, "run.sh"), "#!/bin/sh\n")
        await chmod(join(copy, "run.sh"), 0o755)
        await symlink("a.json", join(copy, "link"))
        await symlink("/etc/passwd", join(copy, "out"))
      })
      yield* git(copy, "add", ".")
      yield* git(copy, "commit", "-q", "-m", "kinds")
      yield* git(copy, "push", "-q", "origin", "main")

      const at = "/repos/local/kinds"
      const listed = (yield* Rest.get(`${at}/contents`)).body
      assert.deepStrictEqual(
        listed.map((entry: Rest.Json) => [entry.name, entry.type]),
        [
          ["a.json", "file"],
          ["link", "symlink"],
          ["out", "symlink"],
          ["run.sh", "file"]
        ]
      )
      const followed = (yield* Rest.get(`${at}/contents/link`)).body
      assert.deepStrictEqual([followed.type, followed.content], ["file", "MQo=\n"])
      const outside = (yield* Rest.get(`${at}/contents/out`)).body
      assert.deepStrictEqual([outside.type, outside.target], ["symlink", "/etc/passwd"])

      const script = (yield* Rest.get(`${at}/contents/run.sh`)).body
      const put = yield* Rest.request("PUT", `${at}/contents/run.sh`, {
        body: { message: "changed", content: Rest.base64("#!/bin/sh\ntrue\n"), sha: script.sha }
      })
      assert.strictEqual(put.status, 200)
      const target = (yield* Rest.request("POST", `${at}/git/blobs`, { body: { content: "run.sh" } })).body
        .sha
      const tree = yield* Rest.request("POST", `${at}/git/trees`, {
        body: {
          base_tree: put.body.commit.sha,
          tree: [
            { path: "also", mode: "120000", type: "blob", sha: target },
            { path: "bin/tool", mode: "100755", type: "blob", content: "#!/bin/sh\n" }
          ]
        }
      })
      const commit = yield* Rest.request("POST", `${at}/git/commits`, {
        body: { message: "by REST", tree: tree.body.sha, parents: [put.body.commit.sha] }
      })
      yield* Rest.request("PATCH", `${at}/git/refs/heads/main`, { body: { sha: commit.body.sha } })
      const all = (yield* Rest.get(`${at}/git/trees/main?recursive=1`)).body.tree
      assert.deepStrictEqual(
        all.map((entry: Rest.Json) => `${entry.mode} ${entry.path}`),
        [
          "100644 a.json",
          "120000 also",
          "040000 bin",
          "100755 bin/tool",
          "120000 link",
          "120000 out",
          "100755 run.sh"
        ]
      )
      yield* git(directory, "clone", "-q", url, "again")
      const again = join(directory, "again")
      yield* Effect.promise(async () => {
        assert.strictEqual(await readlink(join(again, "also")), "run.sh")
        assert.strictEqual(await readlink(join(again, "link")), "a.json")
        assert.isTrue((await lstat(join(again, "out"))).isSymbolicLink())
        assert.strictEqual((await stat(join(again, "run.sh"))).mode & 0o111, 0o111)
        assert.strictEqual((await stat(join(again, "bin/tool"))).mode & 0o111, 0o111)
        assert.strictEqual((await stat(join(again, "a.json"))).mode & 0o111, 0)
      })
      yield* git(again, "fsck", "--strict", "--full")
    })
  )

  it.scoped("a killed client during a push leaves no program and a sound repository", () =>
    Effect.gen(function* () {
      const { directory: data } = yield* HostServer
      const directory = yield* workplace
      yield* Rest.repository("killed", { "a.json": "1\n" })
      yield* git(directory, "clone", "-q", yield* address("killed"), "copy")
      const copy = join(directory, "copy")
      for (let index = 0; index < 6; index++) {
        const bytes = randomFillSync(Buffer.alloc(8 * 1024 * 1024))
        yield* Effect.promise(() => writeFile(join(copy, `${index}.bin`), bytes))
      }
      yield* git(copy, "add", ".")
      yield* git(copy, "commit", "-q", "-m", "large")
      const repository = join(data, "repos/local/killed.git")
      const receiving = () =>
        readdirSync("/proc").filter((pid) => {
          if (!/^\d+$/.test(pid)) return false
          try {
            const line = readFileSync(`/proc/${pid}/cmdline`, "utf8")
            return /receive-pack|index-pack/.test(line) && line.includes(`--git-dir=${repository}`)
          } catch {
            return false
          }
        }).length
      const until = (condition: () => boolean) =>
        Effect.promise(async () => {
          for (let attempt = 0; attempt < 3000; attempt++) {
            if (condition()) return true
            await new Promise((resolve) => setTimeout(resolve, 10))
          }
          return false
        })
      /** Where Git keeps what it receives apart; the requests by which it asks beforehand have none. */
      const left = () =>
        readdirSync(join(repository, "objects")).filter((name) => name.startsWith("tmp_objdir-incoming-"))
      const push = spawn("git", ["push", "-q", "origin", "main"], {
        cwd: copy,
        stdio: "ignore",
        detached: true
      })
      assert.isTrue(yield* until(() => left().length > 0))
      process.kill(-push.pid!, "SIGKILL")
      assert.isTrue(yield* until(() => receiving() === 0))
      assert.isTrue(yield* until(() => left().length === 0))
      yield* git(repository, "fsck", "--strict", "--full")
      const put = yield* Rest.request("PUT", "/repos/local/killed/contents/b.json", {
        body: { message: "after", content: Rest.base64("2\n") }
      })
      assert.strictEqual(put.status, 201)
    })
  )

  it.scoped("four pushers of one branch and a REST writer lose nothing", () =>
    Effect.gen(function* () {
      const directory = yield* workplace
      yield* Rest.repository("busy", { "a.json": "1\n" })
      const url = yield* address("busy")
      const pusher = (index: number) =>
        Effect.gen(function* () {
          const name = `copy-${index}`
          const copy = join(directory, name)
          yield* git(directory, "clone", "-q", url, name)
          yield* Effect.promise(() => writeFile(join(copy, `${index}.json`), `${index}\n`))
          yield* git(copy, "add", ".")
          yield* git(copy, "commit", "-q", "-m", `push ${index}`)
          const push = Effect.catchAll(git(copy, "push", "-q", "origin", "main"), (error) =>
            Effect.zipRight(git(copy, "pull", "-q", "--rebase"), Effect.fail(error))
          )
          yield* Effect.retry(push, { times: 30 })
        })
      const writer = Effect.forEach(
        Array.from({ length: 20 }, (_, index) => index),
        (index) =>
          Effect.map(
            Rest.request("PUT", `/repos/local/busy/contents/rest/${index}.json`, {
              body: { message: `rest ${index}`, content: Rest.base64(`${index}\n`) }
            }),
            ({ status, text }) => assert.strictEqual(status, 201, text)
          )
      )
      yield* Effect.all([writer, ...Array.from({ length: 4 }, (_, index) => pusher(index))], {
        concurrency: 5
      })
      const paths = (yield* Rest.get("/repos/local/busy/git/trees/main?recursive=1")).body.tree
        .filter((entry: Rest.Json) => entry.type === "blob")
        .map((entry: Rest.Json) => entry.path)
      assert.strictEqual(paths.length, 1 + 4 + 20)
      const { directory: data } = yield* HostServer
      yield* git(join(data, "repos/local/busy.git"), "fsck", "--strict", "--full")
    })
  )
})
