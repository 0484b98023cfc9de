import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import { git as stock, temporary } from "./support/temporary.js"

const world = Effect.gen(function* () {
  const root = yield* temporary
  const remote = yield* LocalGit.scoped({
    directory: root,
    repo: "o/r",
    durability: "none",
    maintenance: false
  })
  const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
  yield* store.collection("c").insert({ n: 1 }, { id: "a" })
  const git = (...args: Array<string>) => stock(`${root}/o/r.git`, ...args).trim()
  git("branch", "side", "main")
  const side = yield* Effect.provideService(Store.make({ branch: "side" }), GitRemote, remote)
  yield* side.collection("c").insert({ n: 2 }, { id: "gone" })
  const at = git("rev-parse", "side")
  const blob = git("rev-parse", "side:data/c/gone.json")
  yield* side.collection("c").get("gone", { fresh: true })
  git("branch", "-D", "side")
  git("gc", "-q", "--prune=now")
  return { git, remote, at, blob }
})
const sound = (git: (...args: Array<string>) => string) => {
  try {
    git("fsck", "--full", "--no-dangling")
    return "sound"
  } catch (error: any) {
    return String(error.stderr)
  }
}

it.scopedLive("a branch cannot be set to a commit that Git has pruned", () =>
  Effect.gen(function* () {
    const { at, git, remote } = yield* world
    const made = yield* Effect.either(remote.createBranch("again", at as never))
    assert.strictEqual(sound(git), "sound", made._tag)
    assert.strictEqual(made._tag, "Left")
  })
)

it.scopedLive("a commit cannot link a blob that Git has pruned", () =>
  Effect.gen(function* () {
    const { blob, git, remote } = yield* world
    const head = yield* remote.head("main")
    const made = yield* Effect.either(
      remote.commit("main", head, {
        message: "link",
        changes: [{ _tag: "Link", path: "data/c/linked.json", oid: blob as never }]
      })
    )
    assert.strictEqual(sound(git), "sound", made._tag)
    assert.strictEqual(made._tag, "Left")
    assert.isTrue(Option.isSome(head))
  })
)

it.scopedLive("no tree is based on one that was read, and that Git has pruned since", () =>
  Effect.gen(function* () {
    const { git } = yield* world
    const directory = git("rev-parse", "--absolute-git-dir")
    const repository = yield* Engine.open({ directory, durability: "none", maintenance: false })
    const write = (base: Option.Option<Oid>, path: string, content: number) =>
      Effect.flatMap(repository.writeObject("blob", Uint8Array.of(content)), (oid) =>
        repository.writeTree(base, [{ path, mode: "100644", oid: Option.some(oid) }])
      )
    const base = yield* write(Option.none(), "a/b/c", 1)
    yield* repository.lookup(base, "a/b/c")
    git("gc", "-q", "--prune=now")
    const made = yield* Effect.either(write(Option.some(base), "d", 2))
    assert.strictEqual(made._tag, "Left")
  })
)
