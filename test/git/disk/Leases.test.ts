import * as fs from "node:fs"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import { assertSound, engine, put, temporary, write } from "./support/temporary.js"

/** Creates the lease directory and the lock of a killed process. */
const leaveLock = (directory: string, lock: string) => {
  const home = `${directory}/chainstore`
  const [machine, boot] = fs
    .readdirSync(home)
    .find((name) => name.includes("~"))!
    .split("~")
  const dead = `${home}/${[machine, boot, "999999999", "1", "dead"].join("~")}`
  fs.mkdirSync(dead)
  fs.writeFileSync(`${dead}/held`, "")
  fs.linkSync(`${dead}/held`, `${directory}/${lock}`)
  return dead
}

it.scopedLive("the lock of a dead process is removed, even if the directory of packs is missing", () =>
  Effect.gen(function* () {
    const directory = `${yield* temporary}/r.git`
    const lock = "refs/heads/deep/main.lock"
    yield* Effect.scoped(
      Effect.map(Engine.open({ directory, create: true }), () => {
        fs.mkdirSync(`${directory}/refs/heads/deep`)
        leaveLock(directory, lock)
      })
    )
    fs.rmdirSync(`${directory}/objects/pack`)
    const repository = yield* Engine.open({ directory, timeout: 300 })
    assert.isFalse(fs.existsSync(`${directory}/${lock}`))
    yield* write(repository, [put("a", "1")], { branch: "deep/main" })
    assertSound(directory)
  })
)

it.scopedLive("maintenance continues where a process was killed", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false, durability: "none" })
    const { directory } = repository
    for (let n = 0; n < 5; n++) yield* write(repository, [put("a", `${n}`)])
    const dead = leaveLock(directory, "chainstore/maintenance.lock")
    yield* repository.maintain
    assert.strictEqual(
      fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".pack")).length,
      1
    )
    assert.isFalse(fs.existsSync(dead))
    assert.isFalse(fs.existsSync(`${directory}/chainstore/maintenance.lock`))
  })
)
