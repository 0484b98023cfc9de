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

  it("names with surrogates, and directories beside files, are in the order of their bytes", () => {
    const units = ["a", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffee", "\u{10000}", "\u{10ffff}"]
    assert.deepStrictEqual([...units].reverse().sort(GitObject.compareNames), units)
    const parts = ["", ...units.slice(0, 2), ...units.slice(4)]
    const names = parts.flatMap((a) => parts.map((b) => `x${a}${b}`))
    for (const a of names) {
      for (const b of names) {
        const expected = Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)))
        assert.strictEqual(Math.sign(GitObject.compareNames(a, b)), expected, `${a} ${b}`)
      }
    }
    const file = (name: string) => ({ name, mode: "100644" as const })
    const directory = (name: string) => ({ name, mode: "040000" as const })
    const sorted = [
      file("a"),
      file("a-b"),
      file("a.json"),
      directory("a"),
      file("a0"),
      directory("b.a"),
      directory("b")
    ]
    assert.deepStrictEqual([...sorted].reverse().sort(GitObject.compareEntries), sorted)
    assert.strictEqual(GitObject.compareEntries(directory("a"), directory("a")), 0)
  })

  it("modes are those of Git, and kinds are those of modes", () => {
    const kinds = (["100644", "100755", "120000", "040000", "160000"] as const).map(GitObject.entryKindOf)
    assert.deepStrictEqual(kinds, ["blob", "blob", "blob", "tree", "commit"])
    const encoded = (mode: string) => new TextEncoder().encode(`${mode} n\0${"\x01".repeat(20)}`)
    const modes = [
      ["40000", "040000"],
      ["040000", "040000"],
      ["100644", "100644"],
      ["100664", "100644"],
      ["100755", "100755"],
      ["120000", "120000"],
      ["160000", "160000"]
    ] as const
    for (const [given, mode] of modes) {
      const entry = { name: "n", mode, oid: "01".repeat(20) as Oid }
      assert.deepStrictEqual(GitObject.parseTree(encoded(given)), Either.right([entry]))
    }
    for (const mode of ["", "0", "100600", "0100644", "1006444", "abcdef"]) {
      assert.deepStrictEqual(GitObject.parseTree(encoded(mode)), Either.left("entry 0 has no known mode"))
    }
  })

  it("a tree of more than its first buffer is encoded whole", () => {
    const sample = Array.from({ length: 400 }, (_, n) => ({
      name: `${String(n).padStart(4, "0")}${n % 3 === 0 ? "é".repeat(n) : "x".repeat(n % 90)}`,
      mode: "100644" as const,
      oid: n.toString(16).padStart(40, "0123456789abcdef".repeat(3)) as Oid
    }))
    for (let length = 90; length < 200; length += 7) {
      const some = sample.slice(0, length)
      assert.deepStrictEqual(GitObject.parseTree(GitObject.encodeTree(some)), Either.right(some))
    }
    const large = [{ ...sample[0]!, name: "long".repeat(3000) }]
    assert.strictEqual(GitObject.encodeTree(large).length, 12_000 + 28)
    assert.deepStrictEqual(GitObject.parseTree(GitObject.encodeTree(large)), Either.right(large))
    for (const name of ["\x7f", "a\x7f", "a\x80", "\x80"]) {
      const bytes = GitObject.encodeTree([{ ...sample[0]!, name }])
      assert.strictEqual(Buffer.from(bytes.subarray(7, -21)).toString(), name)
    }
  })

  it("a damaged tree says which entry is damaged", () => {
    const first = GitObject.encodeTree([{ name: "a", mode: "100644", oid: zeros }])
    const left = (rest: Uint8Array | string) =>
      GitObject.parseTree(
        Buffer.concat([first, typeof rest === "string" ? Buffer.from(rest, "latin1") : rest])
      )
    assert.deepStrictEqual(left("100644"), Either.left("entry 1 is cut short"))
    assert.deepStrictEqual(left("100644 a"), Either.left("entry 1 is cut short"))
    assert.deepStrictEqual(left(first.subarray(0, -1)), Either.left("entry 1 is cut short"))
    assert.deepStrictEqual(left(` a\0${"x".repeat(20)}`), Either.left("entry 1 has no known mode"))
    assert.deepStrictEqual(
      left(`100644 \xff\0${"x".repeat(20)}`),
      Either.left("the name of entry 1 is not UTF-8")
    )
    assert.deepStrictEqual(left("\0".repeat(30)), Either.left("entry 1 is cut short"))
    const nameless = Buffer.from(` a\0${"x".repeat(20)}`)
    assert.deepStrictEqual(GitObject.parseTree(nameless), Either.left("entry 0 has no known mode"))
    assert.isTrue(Either.isRight(left(first)))
    assert.deepStrictEqual(GitObject.parseTree(new Uint8Array(0)), Either.right([]))
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

  it("a message is stored with one final newline, and read without it", () => {
    for (const message of ["", "a", "\na", "a\n", "\na\n"]) {
      const stored = GitObject.withFinalNewline(message)
      assert.strictEqual(stored, message.endsWith("\n") ? message : `${message}\n`)
      assert.strictEqual(`${GitObject.withoutFinalNewline(stored)}\n`, stored)
    }
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

describe("a commit", () => {
  const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
  const parsed = (lines: ReadonlyArray<string>, encoding: BufferEncoding = "utf8") =>
    GitObject.parseCommit(zeros, Buffer.from(lines.join("\n"), encoding))
  const nobody = { name: "", email: "", date: "1970-01-01T00:00:00Z" }

  it("names its parents in their order, and one person may be author and committer", () => {
    const ids = ["1".repeat(40), "2".repeat(40)] as Array<Oid>
    const ada = { name: "Ada", email: "ada@example.org", seconds: 1, offset: 0 }
    const commit = { tree: tree as Oid, parents: ids, author: ada, committer: ada, message: "a\0b\n" }
    const text = Buffer.from(GitObject.encodeCommit(commit)).toString()
    assert.strictEqual(
      text,
      [
        `tree ${tree}`,
        `parent ${ids[0]}`,
        `parent ${ids[1]}`,
        "author Ada <ada@example.org> 1 +0000",
        "committer Ada <ada@example.org> 1 +0000",
        "",
        "ab",
        ""
      ].join("\n")
    )
    const offset = (minutes: number) =>
      /committer .* (\S+)\n/.exec(
        Buffer.from(GitObject.encodeCommit({ ...commit, committer: { ...ada, offset: minutes } })).toString()
      )?.[1]
    assert.deepStrictEqual([-1, -605, 5, 90, 845].map(offset), ["-0001", "-1005", "+0005", "+0130", "+1405"])
    const found = parsed(text.split("\n"))
    assert.deepStrictEqual([found?.parents, found?.message], [ids, "ab"])
    assert.strictEqual(GitObject.withFinalNewline("a"), "a\n")
    assert.strictEqual(GitObject.withFinalNewline("\na\n"), "\na\n")
    assert.strictEqual(GitObject.withoutFinalNewline("\na\n\n"), "\na\n")
    assert.strictEqual(GitObject.withoutFinalNewline("\na"), "\na")
  })

  it("is read as far as it is whole", () => {
    assert.deepStrictEqual(parsed([`tree ${tree}`]), {
      commit: zeros,
      tree: tree as Oid,
      parents: [],
      message: "",
      author: nobody,
      committer: nobody
    })
    assert.strictEqual(parsed([`tree ${tree}`, "author A"])?.author.name, "A")
    assert.isUndefined(parsed(["", "", `tree ${tree}`]))
    assert.isUndefined(parsed([`tree ${tree.slice(1)}`]))
    assert.strictEqual(parsed([`tree ${tree}`, "", ""])?.message, "")
    assert.strictEqual(parsed([`tree ${tree}`, "", "", "a", "", "b"])?.message, "\na\n\nb")
    assert.strictEqual(parsed([`tree ${tree}`, "", "\ufefftext"])?.message, "\ufefftext")
  })

  it("has persons as Git reads them, and dates that exist", () => {
    const person = (line: string) => {
      const { date, email, name } = parsed([`tree ${tree}`, `author ${line}`, "", ""])!.author
      return [name, email, date]
    }
    const start = "1970-01-01T00:00:00Z"
    assert.deepStrictEqual(person("A <B <c>> 1 +0000"), ["A", "B <c", start])
    assert.deepStrictEqual(person("A B <a@b> 86400 +0200"), ["A B", "a@b", "1970-01-02T00:00:00Z"])
    assert.deepStrictEqual(person("A<a@b>86400"), ["A", "a@b", "1970-01-02T00:00:00Z"])
    assert.deepStrictEqual(person("A  <a@b>  1"), ["A ", "a@b", start])
    assert.deepStrictEqual(person("<a@b> -86400 +0000"), ["", "a@b", "1969-12-31T00:00:00Z"])
    assert.deepStrictEqual(person("A <a@b> someday"), ["A", "a@b", start])
    assert.deepStrictEqual(person("A <a@b"), ["A <a@b", "", start])
    assert.deepStrictEqual(person("A <a@b> 8639999999999 +0000"), ["A", "a@b", "+275760-09-12T23:59:59Z"])
    assert.deepStrictEqual(person("A <a@b> 8640000000000 +0000"), ["A", "a@b", start])
    assert.deepStrictEqual(person("A <a@b> -99999999999999 +0000"), ["A", "a@b", start])
    for (const seconds of [Number.NaN, Number.POSITIVE_INFINITY, 8.64e12, -8.64e12]) {
      assert.strictEqual(GitObject.toIsoDate(seconds), start)
    }
    assert.strictEqual(GitObject.toIsoDate(0.5), "1970-01-01T00:00:00.500Z")
  })

  it("is decoded by the encoding that it names", () => {
    const lines = (encoding: string) => [
      `tree ${tree}`,
      "author J\xe4ger <a@b> 1 +0000",
      `encoding ${encoding}`,
      "",
      "gr\xfc\xdfe"
    ]
    const latin = parsed(lines("ISO-8859-1"), "latin1")
    assert.deepStrictEqual([latin?.author.name, latin?.message], ["Jäger", "grüße"])
    assert.strictEqual(parsed(lines("no-such-encoding"), "utf8")?.message, "grüße")
    assert.strictEqual(parsed(lines("no-such-encoding"), "latin1")?.message, "gr\ufffd\ufffde")
    assert.strictEqual(parsed([`tree ${tree}`, "encoding x", "", "\ufeffa"])?.message, "\ufeffa")
    const inMessage = [`tree ${tree}`, "", "", "encoding ISO-8859-1", "grüße"]
    assert.strictEqual(parsed(inMessage)?.message, "\nencoding ISO-8859-1\ngrüße")
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
