import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { createInterface } from "node:readline"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { bundled } from "../../support/bundled.js"
import type { Call } from "./support/answerer.js"
import { started } from "./support/children.js"
import { commits, packsOf, stemsOf } from "./support/packs.js"
import { git, put, temporary, write } from "./support/temporary.js"

const isRoot = process.getuid?.() === 0
const nobody = "65534"

/** A repository in a directory that everybody may enter. */
const filled = <A, E, R>(fill: (repository: GitRepository) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const home = yield* temporary
    fs.chmodSync(home, 0o755)
    const directory = `${home}/test.git`
    const made = yield* Effect.scoped(
      Effect.flatMap(Engine.open({ directory, create: true, maintenance: false }), fill)
    )
    return { directory, made }
  })

/** Gives a repository to another user, and opens it as that user. The returned function makes a call to it. */
const asNobody = (directory: string) =>
  Effect.gen(function* () {
    const program = `${directory}.mjs`
    fs.copyFileSync(bundled(new URL("./support/answerer.ts", import.meta.url)), program)
    const as = [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", process.execPath, program]
    const child = yield* started("setpriv", [...as, directory], {
      cwd: "/",
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env["PATH"], HOME: "/nonexistent" }
    })
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
    return (call: Call) =>
      Effect.promise(async () => {
        child.stdin!.write(`${JSON.stringify(call)}\n`)
        return JSON.parse((await lines.next()).value as string)
      })
  })

const give = (directory: string) => execFileSync("chown", ["-R", `${nobody}:${nobody}`, directory])

/** Closes a file or directory to every user but root. */
const hide = (file: string) => {
  fs.chownSync(file, 0, 0)
  fs.chmodSync(file, fs.statSync(file).mode & 0o700)
}

const codesOf = (found: ReadonlyArray<{ readonly code: string }>) => found.map(({ code }) => code)

const refused = { reason: "Denied", hint: "Give its user the rights to the whole repository" }

// Likely: an administrator's command has written a pack. Stock Git reads the rest of the repository.
describe.skipIf(!isRoot)("a pack that the user may not read", () => {
  /** Two packs: the first one has `a` and the first commit, the second one `b`. */
  const twoPacks = Effect.gen(function* () {
    const { directory, made } = yield* filled((repository) =>
      Effect.gen(function* () {
        const { blobs, commit } = yield* write(repository, [put("a", "1")])
        const stem = stemsOf(repository.directory)[0]!
        yield* write(repository, [put("b", "2")])
        return { blob: blobs.get("a")!, commit, stem }
      })
    )
    give(directory)
    return { directory, ...made }
  })

  for (const ending of ["idx", "pack"]) {
    it.scopedLive(`hides only its own objects, as long as its ${ending} cannot be read`, () =>
      Effect.gen(function* () {
        const { blob, commit, directory, stem } = yield* twoPacks
        hide(`${stem}.${ending}`)
        const calling = yield* asNobody(directory)
        assert.strictEqual(yield* calling({ read: yield* calling({ write: "c" }) }), "c")
        assert.deepInclude(yield* calling({ read: blob }), refused)
        assert.deepInclude(yield* calling({ commit }), refused)
        const [finding] = yield* calling({ ask: "health" })
        assert.deepInclude(finding, { severity: "error", code: "pack-rights" })
        assert.include(finding.message, stem)
        fs.chmodSync(`${stem}.${ending}`, 0o644)
        assert.strictEqual(yield* calling({ read: blob }), "1")
        assert.deepStrictEqual(yield* calling({ ask: "health" }), [])
      })
    )
  }

  it.scopedLive("does not keep the other packs from being combined", () =>
    Effect.gen(function* () {
      const { directory, made: stem } = yield* filled((repository) =>
        Effect.gen(function* () {
          yield* write(repository, [put("left", "out")], { branch: "hidden" })
          git(repository.directory, "update-ref", "-d", "refs/heads/hidden")
          const stem = stemsOf(repository.directory)[0]!
          yield* commits(repository, 12)
          return stem
        })
      )
      give(directory)
      hide(`${stem}.pack`)
      const calling = yield* asNobody(directory)
      assert.strictEqual(yield* calling({ ask: "maintain" }), "done")
      assert.strictEqual(packsOf(directory).length, 2)
      assert.isTrue(fs.existsSync(`${stem}.pack`))
    })
  )

  it.scopedLive("is read by who has opened it, although the directory cannot be listed any more", () =>
    Effect.gen(function* () {
      const { blob, directory } = yield* twoPacks
      const calling = yield* asNobody(directory)
      assert.strictEqual(yield* calling({ read: blob }), "1")
      fs.chmodSync(`${directory}/objects/pack`, 0o300)
      assert.deepInclude(yield* calling({ read: "0".repeat(40) }), refused)
      assert.include(codesOf(yield* calling({ ask: "health" })), "objects")
      assert.strictEqual(yield* calling({ read: blob }), "1")
      fs.chmodSync(`${directory}/objects/pack`, 0o700)
      assert.strictEqual(yield* calling({ read: "0".repeat(40) }), "none")
    })
  )
})

/** A repository with `own`, and an alternate that everybody may read, with `lent`. */
const borrowing = Effect.gen(function* () {
  const lender = yield* filled((repository) =>
    Effect.map(write(repository, [put("lent", "1")]), ({ blobs }) => blobs.get("lent")!)
  )
  fs.writeFileSync(`${lender.directory}/objects/info/alternates`, "# none\n")
  execFileSync("chmod", ["-R", "a+rX", lender.directory])
  const { directory } = yield* filled((repository) => write(repository, [put("own", "2")]))
  fs.writeFileSync(`${directory}/objects/info/alternates`, `${lender.directory}/objects\n`)
  give(directory)
  return { directory, lender: lender.directory, lent: lender.made }
})

// Likely: the lender changes its rights. Stock Git warns, and reads what the repository has itself.
describe.skipIf(!isRoot)("an alternate that the user may not read", () => {
  it.scopedLive("hides its objects, too, as long as only its packs cannot be read", () =>
    Effect.gen(function* () {
      const { directory, lender, lent } = yield* borrowing
      const pack = `${stemsOf(lender)[0]}.pack`
      hide(pack)
      const calling = yield* asNobody(directory)
      assert.deepInclude(yield* calling({ read: lent }), refused)
      const [found, ...others] = yield* calling({ ask: "health" })
      assert.deepInclude(found, { severity: "error", code: "objects", hint: refused.hint })
      assert.include(found.message, pack)
      assert.deepStrictEqual(others, [])
    })
  )

  for (const part of ["objects/info", "objects/pack", "objects", "."]) {
    it.scopedLive(`hides only its own objects when ${part} is closed`, () =>
      Effect.gen(function* () {
        const { directory, lender, lent } = yield* borrowing
        hide(`${lender}/${part}`)
        const calling = yield* asNobody(directory)
        assert.strictEqual(yield* calling({ read: yield* calling({ write: "more" }) }), "more")
        const read = yield* calling({ read: lent })
        if (part === "objects/info") assert.strictEqual(read, "1")
        else assert.deepInclude(read, refused)
        const [found, ...others] = yield* calling({ ask: "health" })
        assert.deepInclude(found, { severity: "error", code: "objects", hint: refused.hint })
        assert.include(found.message, lender)
        assert.deepStrictEqual(others, [])
      })
    )
  }
})

// Likely on servers whose administrators have `umask 077`: a command of root makes loose objects in a repository of a service.
describe.skipIf(!isRoot)("a loose object that the user may not read", () => {
  for (const part of ["directory", "file"]) {
    it.scopedLive(`is reported when its ${part} is closed`, () =>
      Effect.gen(function* () {
        const { directory } = yield* filled((repository) => write(repository, [put("a", "1")]))
        const oid = git(directory, "hash-object", "-w", `${directory}/HEAD`).trim()
        const fan = `${directory}/objects/${oid.slice(0, 2)}`
        const closed = part === "file" ? `${fan}/${oid.slice(2)}` : fan
        give(directory)
        hide(closed)
        const calling = yield* asNobody(directory)
        assert.deepInclude(yield* calling({ read: oid }), refused)
        const [found, ...others] = yield* calling({ ask: "health" })
        assert.deepInclude(found, { severity: "error", code: "objects", hint: refused.hint })
        assert.include(found.message, closed)
        assert.deepStrictEqual(others, [])
      })
    )
  }
})

// Likely on such servers: root made a work tree, fetched, or wrote a commit-graph. The service works on, as does Git.
describe.skipIf(!isRoot)("a part without objects that the user may not read", () => {
  for (const part of ["worktrees", "refs/remotes", "objects/info/commit-graphs"]) {
    it.scopedLive(`lets a maintenance succeed, as that of Git: ${part}`, () =>
      Effect.gen(function* () {
        const { directory } = yield* filled((repository) => write(repository, [put("a", "1")]))
        fs.mkdirSync(`${directory}/${part}`, { recursive: true })
        give(directory)
        hide(`${directory}/${part}`)
        const calling = yield* asNobody(directory)
        assert.strictEqual(yield* calling({ ask: "maintain" }), "done")
      })
    )
  }

  const directories = ["worktrees", "refs/remotes", "objects/info/commit-graphs"]
  for (const part of [...directories, "config.worktree", "packed-refs", "refs/heads/other"]) {
    it.scopedLive(`is reported, and so is what else is wrong: ${part}`, () =>
      Effect.gen(function* () {
        const { directory } = yield* filled((repository) => write(repository, [put("a", "1")]))
        fs.writeFileSync(`${directory}/objects/info/alternates`, "/nowhere/objects\n")
        const closed = `${directory}/${part}`
        if (directories.includes(part)) fs.mkdirSync(closed, { recursive: true })
        else fs.writeFileSync(closed, "")
        give(directory)
        hide(closed)
        const calling = yield* asNobody(directory)
        const found = yield* calling({ ask: "health" })
        assert.deepStrictEqual(codesOf(found), ["objects", "rights"])
        assert.deepInclude(found[1], { severity: "error", hint: refused.hint })
        assert.include(found[1].message, closed)
      })
    )
  }
})

it.scopedLive("a pipe among the refs does not hold up an examination", () =>
  Effect.gen(function* () {
    const { directory } = yield* filled((repository) => write(repository, [put("a", "1")]))
    execFileSync("mkfifo", [`${directory}/refs/heads/pipe`])
    const repository = yield* Engine.open({ directory, maintenance: false })
    assert.deepStrictEqual(yield* repository.health, [])
  })
)

// A later engine can only find the lock by the directory of the one that was killed.
it.scopedLive.skipIf(!isRoot)("a lock of a killed engine is removed when its directory is open again", () =>
  Effect.gen(function* () {
    const { directory } = yield* filled((repository) => write(repository, [put("a", "1")]))
    const team = `${directory}/refs/heads/team`
    fs.mkdirSync(team)
    give(directory)
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* (yield* asNobody(directory))({ write: "b" })
        const [owner] = fs.readdirSync(`${directory}/chainstore`).filter((name) => name.includes("~"))
        const held = `${directory}/chainstore/${owner}/held`
        fs.writeFileSync(held, "")
        fs.linkSync(held, `${team}/x.lock`)
        give(directory)
      })
    )
    hide(team)
    yield* Effect.scoped(Effect.flatMap(asNobody(directory), (calling) => calling({ write: "c" })))
    give(directory)
    fs.chmodSync(team, 0o755)
    yield* (yield* asNobody(directory))({ write: "d" })
    assert.deepStrictEqual(fs.readdirSync(team), [])
  })
)
