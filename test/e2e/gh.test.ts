import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as hostLayer } from "../support/host/HostServer.js"
import * as Rest from "../support/host/Rest.js"

const hasGh = (() => {
  try {
    execFileSync("gh", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

const identity = {
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org"
}

/** GitHub's own command line, led to the host by a unix socket: it speaks HTTPS to anything else. */
const client = Effect.gen(function* () {
  const { token, url } = yield* HostServer
  const { host, hostname: name, port } = new URL(url)
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-gh-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const socket = join(directory, "gh.sock")
  yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((near) => {
        const far = connect(Number(port), "127.0.0.1")
        near.pipe(far)
        far.pipe(near)
        near.on("error", () => far.destroy())
        far.on("error", () => near.destroy())
      })
      await new Promise<void>((resolve) => server.listen(socket, resolve))
      return server
    }),
    (server) => Effect.sync(() => server.close())
  )
  writeFileSync(join(directory, "config.yml"), `git_protocol: https\nhttp_unix_socket: ${socket}\n`)
  const env = {
    PATH: process.env["PATH"],
    HOME: directory,
    GH_CONFIG_DIR: directory,
    GH_HOST: name,
    GH_ENTERPRISE_TOKEN: token,
    GH_NO_UPDATE_NOTIFIER: "1",
    // Git itself speaks plain HTTP to the host.
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `url.http://x:${token}@${host}/.insteadOf`,
    GIT_CONFIG_VALUE_0: `https://${name}/`
  }
  const gh = (...args: ReadonlyArray<string>) => ghIn(directory, ...args)
  const ghIn = (cwd: string, ...args: ReadonlyArray<string>) =>
    Effect.promise(
      () =>
        new Promise<{ readonly code: number; readonly out: string; readonly errors: string }>((resolve) =>
          execFile("gh", args, { env, cwd }, (error, out, errors) =>
            resolve({ code: error === null ? 0 : Number(error.code), out, errors })
          )
        )
    )
  const works = (...args: ReadonlyArray<string>) =>
    Effect.map(gh(...args), ({ code, errors, out }) => {
      assert.strictEqual(code, 0, `gh ${args.join(" ")}: ${out}${errors}`)
      return out
    })
  return { directory, env, gh, ghIn, works }
})

describe.skipIf(!hasGh)("gh", () => {
  layer(hostLayer(), { timeout: 120_000 })("against the host", (it) => {
    it.scoped(
      "makes, lists, clones and synchronises repositories",
      () =>
        Effect.gen(function* () {
          const { directory, gh, ghIn, works } = yield* client
          yield* works("repo", "create", "first", "--private", "--description", "one")
          yield* works("repo", "create", "local/second", "--public", "--add-readme")
          const again = yield* gh("repo", "create", "first", "--private")
          assert.match(again.errors, /name already exists on this account/i)
          const listed = (...args: ReadonlyArray<string>) =>
            Effect.map(works("repo", "list", "--json", "name", ...args), (out) =>
              JSON.parse(out).map(({ name }: Rest.Json) => name)
            )
          assert.deepStrictEqual((yield* listed()).sort(), ["first", "second"])
          assert.deepStrictEqual(yield* listed("--visibility", "private"), ["first"])
          assert.deepStrictEqual(yield* listed("local", "--visibility", "public"), ["second"])
          assert.deepStrictEqual(yield* listed("--fork"), [])
          const git = (...args: ReadonlyArray<string>) =>
            execFileSync("git", ["-C", join(directory, "second"), ...args], { encoding: "utf8" }).trim()
          yield* works("repo", "clone", "local/second")
          assert.strictEqual(git("log", "--format=%s"), "Initial commit")
          yield* Rest.request("PUT", "/repos/local/second/contents/a.json", {
            body: { message: "later", content: Rest.base64("1\n") }
          })
          const synced = yield* ghIn(join(directory, "second"), "repo", "sync")
          assert.deepStrictEqual(synced, { code: 0, out: "", errors: "" })
          assert.strictEqual(git("log", "-1", "--format=%s"), "later")
          assert.match((yield* gh("repo", "sync", "local/second")).errors, /repository is not fork/)
          assert.strictEqual(yield* works("release", "list", "--repo", "local/second"), "")
          const seen = yield* works("repo", "view", "local/second")
          assert.match(seen, /^name:\s+local\/second$/m)
        }),
      120_000
    )

    it.scoped(
      "makes, lists, shows, merges and closes pull requests",
      () =>
        Effect.gen(function* () {
          const { directory, env, ghIn, works } = yield* client
          yield* works("repo", "create", "local/pulls", "--public", "--add-readme")
          yield* works("repo", "clone", "local/pulls")
          const clone = join(directory, "pulls")
          // Not in turn with the host, which answers in this process.
          const git = (...args: ReadonlyArray<string>) =>
            Effect.promise(
              () =>
                new Promise<string>((resolve, reject) =>
                  execFile(
                    "git",
                    ["-C", clone, ...args],
                    { env: { ...env, ...identity } },
                    (error, out, errors) => (error === null ? resolve(out.trim()) : reject(new Error(errors)))
                  )
                )
            )
          const inClone = (...args: ReadonlyArray<string>) =>
            Effect.map(ghIn(clone, ...args), ({ code, errors, out }) => {
              assert.strictEqual(code, 0, `gh ${args.join(" ")}: ${out}${errors}`)
              return out
            })
          for (const branch of ["one", "two"]) {
            yield* git("switch", "-q", "-c", branch, "origin/main")
            writeFileSync(join(clone, `${branch}.txt`), branch)
            yield* git("add", ".")
            yield* git("commit", "-q", "-m", `add ${branch}`)
            yield* git("push", "-q", "-u", "origin", branch)
            const made = yield* inClone(
              "pr",
              "create",
              "--title",
              `Add ${branch}`,
              "--body",
              "Why.",
              "--base",
              "main"
            )
            assert.match(made, /\/local\/pulls\/pull\/\d\n$/)
          }
          const listed = yield* inClone("pr", "list", "--json", "number,title,state,headRefName,baseRefName")
          assert.deepStrictEqual(JSON.parse(listed), [
            { number: 2, title: "Add two", state: "OPEN", headRefName: "two", baseRefName: "main" },
            { number: 1, title: "Add one", state: "OPEN", headRefName: "one", baseRefName: "main" }
          ])
          assert.match(yield* inClone("pr", "list"), /^2\tAdd two\ttwo\tOPEN/)
          assert.match(yield* inClone("pr", "view", "1"), /title:\tAdd one\nstate:\tOPEN\nauthor:\tlocal\n/)
          assert.strictEqual(
            yield* inClone("pr", "diff", "1"),
            `${yield* git("diff", "origin/main", "origin/one")}\n`
          )
          assert.match(yield* inClone("pr", "diff", "1", "--patch"), /^Subject: \[PATCH\] add one$/m)
          yield* inClone("pr", "merge", "1", "--merge")
          yield* git("fetch", "-q")
          assert.strictEqual(
            yield* git("log", "-1", "--format=%s", "origin/main"),
            "Merge pull request #1 from one"
          )
          yield* inClone("pr", "close", "2")
          const states = yield* inClone("pr", "list", "--state", "all", "--json", "number,state,mergedBy")
          assert.deepStrictEqual(
            JSON.parse(states).map((one: Rest.Json) => [one.number, one.state, one.mergedBy?.login ?? null]),
            [
              [2, "CLOSED", null],
              [1, "MERGED", "local"]
            ]
          )
        }),
      120_000
    )

    it.scoped("says what the host does not have", () =>
      Effect.gen(function* () {
        const { gh } = yield* client
        yield* Rest.repository("refused", { "a.json": "1\n" })
        for (const command of [
          "issue list --repo local/refused",
          "label list --repo local/refused",
          "repo list --archived"
        ]) {
          const { code, errors } = yield* gh(...command.split(" "))
          assert.strictEqual(code, 1, command)
          assert.match(errors, /this host serves a part of GitHub's schema/, command)
        }
      })
    )
  })
})
