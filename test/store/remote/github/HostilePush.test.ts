import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import type { GitRemoteService } from "../../../../src/store/remote/GitRemote.js"
import { opened, type Repository, test } from "../../../support/github/Pushing.js"

const urlOf = (input: Parameters<typeof globalThis.fetch>[0]) =>
  String(input instanceof Request ? input.url : input)

const isPush = (input: Parameters<typeof globalThis.fetch>[0]) => urlOf(input).endsWith("/git-receive-pack")

const reset = () => new TypeError("fetch failed", { cause: new Error("the connection was reset") })

const git = ({ directory }: Repository, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", directory, ...args], { encoding: "utf8" }).trim()

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-pushes-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/** Reads by the API until it is known to show where the branch is. */
const settled = (remote: GitRemoteService) => Effect.zipRight(remote.head("main"), remote.head("main"))

describe("a write by push with an unknown outcome", () => {
  test("is read after an AmbiguousWriteError, although the API does not show it", (repository) =>
    Effect.gen(function* () {
      let isLost = false
      let isGone = false
      const fetch: typeof globalThis.fetch = async (input, init) => {
        if (isGone && urlOf(input).includes(".git/")) throw reset()
        if (!isLost || !isPush(input)) return globalThis.fetch(input, init)
        await (await globalThis.fetch(input, init)).arrayBuffer()
        isGone = true
        throw reset()
      }
      const { remote, store } = yield* opened(repository, { maxRetries: 0 }, {}, fetch)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      yield* settled(remote)
      yield* people.list()
      yield* people.get("first")
      yield* repository.server.faults.set({ staleSeconds: 600 })
      isLost = true
      const error = yield* Effect.flip(people.insert({ n: 1 }, { id: "second" }))
      assert.strictEqual(error._tag, "AmbiguousWriteError")
      isLost = isGone = false
      assert.isTrue(Option.isSome(yield* people.get("second")))
      assert.deepStrictEqual(yield* people.list(), ["first", "second"])
      yield* repository.server.faults.set({})
      yield* settled(remote)
      assert.deepStrictEqual(yield* people.list(), ["first", "second"])
    }))

  test("is read after its interruption, though the API does not show it", (repository) =>
    Effect.gen(function* () {
      const [isPushed, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      let isHeld = false
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await globalThis.fetch(input, init)
        if (!isHeld || !isPush(input)) return response
        Deferred.unsafeDone(isPushed, Effect.void)
        await Effect.runPromise(Deferred.await(goOn))
        return response
      }
      const { remote, store } = yield* opened(repository, {}, {}, fetch)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      yield* settled(remote)
      yield* repository.server.faults.set({ staleSeconds: 600 })
      isHeld = true
      const writing = yield* Effect.fork(people.insert({ n: 1 }, { id: "second" }))
      yield* Deferred.await(isPushed)
      const interrupting = yield* Effect.fork(Fiber.interrupt(writing))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(interrupting)
      assert.strictEqual(git(repository, "rev-list", "--count", "main"), "2")
      assert.deepStrictEqual(yield* people.list(), ["first", "second"])
    }))
})

describe("a store on GitHub that is written by push", () => {
  test("acknowledges a commit that is pushed, though nothing can be kept in the clone", (repository) =>
    Effect.gen(function* () {
      const cacheDirectory = path.join(yield* temporary, "clone.git")
      let isBroken = false
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await globalThis.fetch(input, init)
        if (isBroken && isPush(input)) {
          fs.rmSync(path.join(cacheDirectory, "objects"), { recursive: true, force: true })
          fs.writeFileSync(path.join(cacheDirectory, "objects"), "")
        }
        return response
      }
      const { store } = yield* opened(repository, { cacheDirectory }, {}, fetch)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      isBroken = true
      yield* people.insert({ n: 1 }, { id: "second" })
      assert.strictEqual(git(repository, "rev-list", "--count", "main"), "2")
    }))

  test("names its branch by its whole name as it has written it", (repository) =>
    Effect.gen(function* () {
      const { store } = yield* opened(repository)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      yield* repository.server.faults.set({ staleSeconds: 600 })
      yield* people.insert({ n: 1 }, { id: "second" })
      const head = git(repository, "rev-parse", "main")
      for (const name of ["main", "heads/main", "refs/heads/main"]) {
        assert.strictEqual(Option.getOrUndefined(yield* store.resolveRef(name)), head, name)
        assert.isTrue(Option.isSome(yield* (yield* store.at(name)).collection("people").get("second")), name)
      }
    }))

  for (const [right, lacks] of [
    ["read", "/git-receive-pack"],
    ["push", "/git-upload-pack"]
  ] as const) {
    test(`says so where the token may only ${right}, and writes nothing`, (repository) =>
      Effect.gen(function* () {
        const first = yield* opened(repository)
        yield* first.store.collection("people").insert({ n: 0 }, { id: "first" })
        const fetch: typeof globalThis.fetch = async (input, init) =>
          urlOf(input).includes(lacks) || (right === "read" && urlOf(input).endsWith("git-receive-pack"))
            ? new Response("Permission to local/data.git denied", { status: 403 })
            : globalThis.fetch(input, init)
        const { sent, store } = yield* opened(repository, {}, {}, fetch)
        const people = store.collection("people")
        const before = git(repository, "rev-parse", "main")
        for (const n of [1, 2]) {
          const error = yield* Effect.flip(people.update("first", { n }))
          assert.strictEqual(error._tag, "AuthError", String(error))
          assert.match(String(error), /denied/)
        }
        assert.strictEqual(git(repository, "rev-parse", "main"), before)
        if (right === "read") assert.strictEqual(Option.getOrThrow(yield* people.get("first"))["n"], 0)
        assert.isAtMost(sent.filter(({ to }) => to.includes("git-receive-pack")).length, 4)
      }))
  }

  test("ends a lookup that always lasts until another push ends, and does not go back to what it found", (repository) =>
    Effect.gen(function* () {
      const branch = `${repository.server.api}/repos/${repository.repo}/branches/main`
      let pushes = 0
      let isPushing = true
      let shown: string | undefined
      const fetch: typeof globalThis.fetch = async (input, init) => {
        if (shown !== undefined && urlOf(input) === branch) {
          return new Response(shown, { headers: { "content-type": "application/json" } })
        }
        const body = Buffer.from((init?.body ?? "") as Uint8Array).toString("latin1")
        const response = await globalThis.fetch(input, init)
        if (isPushing || !body.includes("command=ls-refs")) return response
        const refs = await response.arrayBuffer()
        isPushing = true
        await Effect.runPromise(people.insert({ n: 1 }, { id: `pushed${pushes++}` }))
        isPushing = false
        return new Response(refs, response)
      }
      const { remote, store } = yield* opened(repository, {}, {}, fetch)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const authorization = { authorization: `Bearer ${repository.server.token}` }
      const answer: any = yield* Effect.promise(() =>
        globalThis.fetch(branch, { headers: authorization }).then((response) => response.json())
      )
      // A write that was refused leaves open where the branch is.
      yield* Effect.flip(people.update("nobody", { n: 1 }))
      isPushing = false
      const found = Option.getOrThrow(yield* Effect.timeout(remote.head("main"), "20 seconds"))
      isPushing = true
      assert.isAtMost(pushes, 10)
      assert.notStrictEqual(found.commit, git(repository, "rev-parse", "main"))
      // From here on the API shows the branch as the lookup found it.
      answer.commit.sha = found.commit
      answer.commit.commit.tree.sha = found.tree
      shown = JSON.stringify(answer)
      const head = Option.getOrThrow(yield* remote.head("main"))
      assert.strictEqual(head.commit, git(repository, "rev-parse", "main"))
      assert.lengthOf(yield* people.list(), pushes + 1)
      yield* people.update("first", { n: 2 })
      assert.strictEqual(git(repository, "rev-list", "--count", "main"), String(pushes + 2))
    }))

  test("finds its branch deleted, renamed and rewritten by others between its pushes", (repository) =>
    Effect.gen(function* () {
      const { remote, store } = yield* opened(repository)
      const people = store.collection("people")
      yield* people.insert({ n: 0 }, { id: "first" })
      const root = git(repository, "rev-parse", "main")
      yield* people.insert({ n: 1 }, { id: "second" })
      // Rewritten: another root.
      const tree = git(repository, "rev-parse", `${root}^{tree}`)
      const name = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
      const other = git(repository, ...name, "commit-tree", tree, "-m", "another root")
      git(repository, "update-ref", "refs/heads/main", other)
      yield* people.insert({ n: 2 }, { id: "third" })
      assert.deepStrictEqual(yield* people.list(), ["first", "third"])
      assert.strictEqual(git(repository, "rev-parse", "main~1"), other)
      // Renamed.
      git(repository, "update-ref", "refs/heads/kept", "main")
      git(repository, "update-ref", "-d", "refs/heads/main")
      const kept = git(repository, "rev-parse", "kept")
      const error = yield* Effect.flip(people.update("first", { n: 3 }))
      assert.strictEqual(error._tag, "NotFoundError", String(error))
      assert.isTrue(Option.isNone(yield* remote.head("main")))
      assert.strictEqual(git(repository, "for-each-ref", "--format=%(refname)"), "refs/heads/kept")
      // And back.
      git(repository, "update-ref", "refs/heads/main", kept)
      yield* people.update("first", { n: 4 })
      assert.strictEqual(git(repository, "rev-parse", "main~1"), kept)
      assert.strictEqual(git(repository, "fsck", "--strict", "--no-dangling"), "")
    }))
})
