import { execFile, execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const person = ["-c", "user.name=a", "-c", "user.email=a@localhost"]

const git = (directory: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", directory, ...person, ...args], { stdio: "pipe", encoding: "utf8" })

/** Runs Git against the host, which runs in this process. */
const client = (directory: string, ...args: ReadonlyArray<string>) =>
  Effect.tryPromise(() => promisify(execFile)("git", ["-C", directory, ...person, ...args]))

const hooks = [
  ...["pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive"],
  ...["push-to-checkout", "post-rewrite", "pre-auto-gc", "post-index-change", "sendemail-validate"]
]

/** All settings whose value Git executes. Each leaves a file named after it in `marks`. */
const programs = (marks: string) => {
  const mark = (name: string, rest = "cat") => `touch ${marks}/${name}; ${rest}`
  return {
    "filter.evil.smudge": mark("smudge"),
    "filter.evil.clean": mark("clean"),
    "filter.evil.process": mark("process"),
    "tar.tar.gz.command": mark("tar", "gzip"),
    "tar.zip.command": mark("zip"),
    "core.alternateRefsCommand": mark("alternateRefs", "true"),
    "merge.evil.driver": mark("merge", "true"),
    "merge.default": "evil",
    "core.fsmonitor": mark("fsmonitor", "true"),
    "uploadpack.packObjectsHook": mark("packObjects", 'exec "$@"'),
    "diff.external": mark("external", "true"),
    "diff.evil.textconv": mark("textconv"),
    "diff.evil.command": mark("command", "true"),
    "core.sshCommand": mark("ssh", "true"),
    "core.gitProxy": mark("proxy", "true"),
    "core.pager": mark("pager"),
    "core.editor": mark("editor", "true"),
    "core.askPass": mark("askpass", "true"),
    "credential.helper": `!${mark("credential", "true")}`,
    "gpg.program": mark("gpg", "true"),
    "log.showSignature": "true",
    "receive.procReceiveRefs": "refs/heads",
    "trailer.evil.command": mark("trailer", "true"),
    "remote.origin.url": `ext::sh -c touch% ${marks}/promisor`,
    "remote.origin.promisor": "true",
    "protocol.allow": "always",
    "extensions.partialClone": "origin",
    "core.repositoryFormatVersion": "1"
  }
}

/**
 * Sets all of them in a repository, also through an include, hooks in two places, and attributes that name the
 * drivers.
 */
const plant = (repository: string, marks: string) => {
  for (const directory of [join(repository, "hooks"), join(repository, "others")]) {
    mkdirSync(directory, { recursive: true })
    for (const name of hooks) {
      writeFileSync(join(directory, name), `#!/bin/sh\ntouch ${marks}/hook-${name}\ncat >/dev/null\n`)
      chmodSync(join(directory, name), 0o755)
    }
  }
  const included = join(repository, "included")
  for (const file of [join(repository, "config"), included]) {
    for (const [key, value] of Object.entries(programs(marks)))
      execFileSync("git", ["config", "--file", file, key, value])
  }
  git(repository, "config", "include.path", included)
  git(repository, "config", "core.hooksPath", join(repository, "others"))
  mkdirSync(join(repository, "info"), { recursive: true })
  writeFileSync(join(repository, "info", "attributes"), "* filter=evil diff=evil merge=evil\n")
}

layer(host(), { timeout: 120_000 })("a repository with programs in its configuration", (it) => {
  it.effect("is served, merged, archived and maintained without running one", () =>
    Effect.gen(function* () {
      const { directory, repositories, token, url } = yield* HostServer
      const marks = join(directory, "marks")
      mkdirSync(marks)
      const lines = ["1", "2", "3"].join("\n")
      yield* Rest.repository("hostile", {
        ".gitattributes": "* filter=evil diff=evil merge=evil text\n",
        "a.txt": lines
      })
      const repository = join(directory, "repos/local/hostile.git")
      const lender = join(directory, "lender.git")
      execFileSync("git", ["clone", "-q", "--bare", repository, lender])
      const remote = `${url.replace("//", `//x:${token}@`)}/local/hostile.git`
      const work = join(directory, "work")
      yield* client(directory, "clone", "-q", remote, work)
      for (const place of [repository, lender]) plant(place, marks)
      writeFileSync(join(repository, "objects/info/alternates"), `${lender}/objects\n`)

      const commit = (branch: string, text: string) => {
        git(work, "checkout", "-q", "-B", branch, "origin/main")
        writeFileSync(join(work, "a.txt"), text)
        git(work, "commit", "-q", "-a", "-m", branch)
        return git(work, "rev-parse", "HEAD").trim()
      }
      const ours = commit("ours", `0\n${lines}`)
      const theirs = commit("theirs", `${lines}\n4`)
      yield* client(work, "push", "-q", remote, "ours", "theirs", "theirs:gone")
      yield* client(work, "push", "-q", remote, ":gone")
      yield* client(work, "fetch", "-q", remote)
      yield* client(
        directory,
        "clone",
        "-q",
        "--depth=1",
        "--filter=blob:none",
        "--no-checkout",
        remote,
        "shallow"
      )

      const answers = yield* Effect.forEach(
        [
          "/api/codeload/local/hostile/tar.gz/ours",
          "/api/codeload/local/hostile/zip/ours",
          `/repos/local/hostile/compare/${ours}...${theirs}`,
          `/repos/local/hostile/commits/${ours}`,
          "/repos/local/hostile/commits?path=a.txt",
          "/repos/local/hostile/contents/a.txt"
        ],
        (path) => Effect.map(Rest.get(path), ({ status }) => status)
      )
      assert.deepStrictEqual(answers, [200, 200, 200, 200, 200, 200])
      const absent = yield* Rest.get(`/repos/local/hostile/git/blobs/${"1".repeat(40)}`)
      assert.strictEqual(absent.status, 404)
      for (const accept of ["application/vnd.github.diff", "application/vnd.github.patch"]) {
        const shown = yield* Rest.get(`/repos/local/hostile/compare/main...ours`, { headers: { accept } })
        assert.match(shown.text, /^\+0$/m)
      }
      const merged = yield* Rest.request("POST", "/repos/local/hostile/merges", {
        body: { base: "ours", head: "theirs" }
      })
      assert.strictEqual(merged.status, 201)
      // Git 2.39 cannot repack a partial clone in this way, nor a repository with alternates.
      rmSync(join(repository, "objects/info/alternates"))
      for (const key of ["remote.origin.promisor", "extensions.partialClone"])
        for (const file of ["config", "included"])
          execFileSync("git", ["config", "--file", join(repository, file), "--unset", key])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const all = { id: "t", login: "t", grants: [{ repository: "*", access: "write" as const }] }
          const opened = (yield* repositories.openForRead(all, "local", "hostile")).git
          yield* Stream.runDrain(opened.log(merged.body.sha, { path: "a.txt" }))
          yield* opened.maintain
        })
      )
      assert.deepStrictEqual(readdirSync(marks), [])

      // The same repository under ordinary Git shows that the programs would run.
      git(repository, "archive", "--format=tar.gz", "--output", join(directory, "stock.tar.gz"), "ours")
      assert.includeMembers(readdirSync(marks), ["tar", "process"])
    })
  )

  it.effect("keeps what its configuration says about pushes and durability", () =>
    Effect.gen(function* () {
      const { directory, token, url } = yield* HostServer
      yield* Rest.repository("strict", { "a.txt": "1\n" })
      const repository = join(directory, "repos/local/strict.git")
      git(repository, "config", "receive.denyNonFastForwards", "true")
      git(repository, "config", "transfer.hideRefs", "refs/heads/hidden")
      git(repository, "branch", "hidden", "main")
      const remote = `${url.replace("//", `//x:${token}@`)}/local/strict.git`
      const work = join(directory, "strict")
      yield* client(directory, "clone", "-q", remote, work)
      assert.notInclude(git(work, "branch", "-r"), "hidden")
      git(work, "commit", "-q", "--amend", "-m", "another")
      const refused = yield* Effect.flip(client(work, "push", "--force", remote, "main"))
      assert.match(String(refused.cause), /non-fast-forward/)
      git(repository, "config", "--unset", "receive.denyNonFastForwards")
      yield* client(work, "push", "-q", "--force", remote, "main")
    })
  )
})
