import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import * as GitObject from "../../src/git/GitObject.js"
import * as GitName from "../../src/git/Names.js"

const name = FastCheck.oneof(
  FastCheck.stringMatching(/^[a-c.-]{1,3}$/),
  FastCheck.fullUnicodeString({ minLength: 1, maxLength: 6 })
).filter((text) => GitName.pathProblem(text) === undefined && !text.includes("/"))
const oid = FastCheck.hexaString({ minLength: 40, maxLength: 40 }).map((text) => text as Oid)
const entries = FastCheck.uniqueArray(
  FastCheck.record({ name, mode: FastCheck.constantFrom("100644" as const, "040000" as const), oid }),
  { selector: (entry) => entry.name, maxLength: 30 }
).map((list) => [...list].sort(GitObject.compareEntries))

const zeros = "0".repeat(40) as Oid

const git = (directory: string, args: ReadonlyArray<string>, input?: Uint8Array | string) =>
  execFileSync("git", args, {
    cwd: directory,
    encoding: "utf8",
    ...(input === undefined ? {} : { input }),
    env: { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1", HOME: directory }
  }).trim()

describe("GitObject", () => {
  it("trees and commits are the bytes that Git makes of them", () => {
    const directory = mkdtempSync(join(tmpdir(), "git-object-"))
    try {
      git(directory, ["init", "--quiet", "--bare"])
      const samples = FastCheck.sample(entries, { numRuns: 25, seed: 7 })
      for (const sample of samples) {
        const listing = sample
          .map((entry) => {
            const kind = entry.mode === "040000" ? "tree" : "blob"
            return `${entry.mode} ${kind} ${entry.oid}\t${entry.name}\0`
          })
          .reverse()
        const theirs = git(directory, ["mktree", "-z", "--missing"], listing.join(""))
        assert.strictEqual(GitObject.hash("tree", GitObject.encodeTree(sample)), theirs)
      }
      const commit: GitObject.CommitObject = {
        tree: git(directory, ["mktree"], "") as Oid,
        parents: [],
        author: { name: "Ada Łovelace", email: "ada@example.org", seconds: 1_700_000_000, offset: -210 },
        committer: { name: "C", email: "c@example.org", seconds: 1_700_000_001, offset: 60 },
        message: "subject\n\nbody\n"
      }
      const bytes = GitObject.encodeCommit(commit)
      const theirs = git(directory, ["hash-object", "-t", "commit", "-w", "--stdin"], bytes)
      assert.strictEqual(GitObject.hash("commit", bytes), theirs)
      assert.strictEqual(
        git(directory, ["log", "-1", "--format=%an|%aI|%cI|%s", theirs]),
        "Ada Łovelace|2023-11-14T18:43:20-03:30|2023-11-14T23:13:21+01:00|subject"
      )
      assert.deepStrictEqual(GitObject.parseCommit(theirs as Oid, bytes), {
        commit: theirs as Oid,
        tree: commit.tree,
        parents: [],
        author: { name: "Ada Łovelace", email: "ada@example.org", date: "2023-11-14T22:13:20Z" },
        committer: { name: "C", email: "c@example.org", date: "2023-11-14T22:13:21Z" },
        message: "subject\n\nbody"
      })
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it.prop("a tree parses to what it was made of", [entries], ([list]) => {
    assert.deepStrictEqual(GitObject.parseTree(GitObject.encodeTree(list)), Either.right(list))
  })

  it.prop("names are ordered as their bytes are", [name, name], ([a, b]) => {
    const bytes = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.strictEqual(Math.sign(GitObject.compareNames(a, b)), bytes)
  })

  it("a damaged tree or commit says why", () => {
    const bytes = GitObject.encodeTree([
      { name: "a", mode: "100644", oid: "00000000000000000000000000000000000000aa" as Oid }
    ])
    assert.isTrue(Either.isLeft(GitObject.parseTree(bytes.subarray(0, bytes.length - 1))))
    assert.isTrue(Either.isLeft(GitObject.parseTree(new TextEncoder().encode("999 a\0".padEnd(30, "x")))))
    const endless = new TextEncoder().encode(`${"1".repeat(500_000)} a\0`.padEnd(500_100, "x"))
    assert.isTrue(Either.isLeft(GitObject.parseTree(endless)))
    assert.isUndefined(GitObject.parseCommit(zeros, new TextEncoder().encode("hello")))
  })

  it("a signed commit is read past its signature", () => {
    const text = [
      "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
      "author A <a@b> 1 +0000",
      "committer A <a@b> 1 +0000",
      "gpgsig -----BEGIN PGP SIGNATURE-----",
      " tree 0000",
      " -----END PGP SIGNATURE-----",
      "",
      "signed"
    ].join("\n")
    const commit = GitObject.parseCommit(zeros, new TextEncoder().encode(text))!
    assert.strictEqual(commit.message, "signed")
    assert.strictEqual(commit.tree, "4b825dc642cb6eb9a060e54bf8d69288fbee4904")
  })
})

describe("GitName", () => {
  it("branch names are judged as git check-ref-format does", () => {
    const names = ["main", "a/b", "über", "a..b", "a b", "-x", "x.lock", "a/.b", "a.", "a@{b", "a//b", "a\\b"]
    for (const candidate of names) {
      let theirs = true
      try {
        execFileSync("git", ["check-ref-format", "--branch", candidate], { stdio: "ignore" })
      } catch {
        theirs = false
      }
      assert.strictEqual(GitName.branchProblem(candidate) === undefined, theirs, candidate)
    }
    assert.isDefined(GitName.branchProblem("refs/heads/main"), "by GitHub's API that is main")
    assert.isUndefined(GitName.branchProblem("refs"))
    for (const [digits, length] of [
      ["aF0", 40],
      ["aF0", 39],
      ["aF0", 41],
      ["aG0", 40]
    ] as const) {
      const isId = digits === "aF0" && length === 40
      const name = digits.repeat(14).slice(0, length)
      assert.strictEqual(GitName.branchProblem(name) !== undefined, isId, `as an id on GitHub: ${name}`)
    }
  })
})
