/** Runs Git children that hold locks and temporary files, as a push does, until they are killed, and then writes. */
import * as fs from "node:fs"
import { Effect, Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../../src/git/disk/Engine.js"
import { spawnGit } from "../../../../src/git/disk/processes/GitProcess.js"

const [directory = "", commit = ""] = process.argv.slice(2)
const zeros = "0".repeat(40)

const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`

/** The header of a pack of 1,000 objects, which are never sent. */
const packHead = Buffer.concat([Buffer.from("PACK"), Buffer.from([0, 0, 0, 2, 0, 0, 3, 232])])

const children = Effect.async<never, string>((resume) => {
  const before = new Set(fs.readdirSync(`${directory}/objects`))
  const git = (...args: Array<string>) => {
    const child = spawnGit(directory, args)
    child.stdout.resume()
    child.stderr.resume()
    return child
  }
  const refs = git("update-ref", "--stdin")
  refs.stdin.write(`start\ncreate refs/heads/b2 ${commit}\nprepare\n`)
  const push = git("receive-pack", "--stateless-rpc", directory)
  push.stdin.write(`${line(`${zeros} ${commit} refs/heads/b3\0report-status`)}0000`)
  push.stdin.write(packHead)
  let running = 2
  for (const child of [refs, push]) {
    child.stdin.on("error", () => {})
    child.on("close", () => {
      child.stdin.destroy()
      if (--running === 0) resume(Effect.fail("killed"))
    })
  }
  const look = setInterval(() => {
    const isLocked = fs.existsSync(`${directory}/refs/heads/b2.lock`)
    const isReceiving = fs
      .readdirSync(`${directory}/objects`)
      .some((name) => name.startsWith("tmp_objdir") && !before.has(name))
    if (!isLocked || !isReceiving) return
    clearInterval(look)
    fs.writeSync(1, `ready ${refs.pid} ${push.pid}\n`)
  }, 5)
})

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false, timeout: 1_000 })
  yield* Effect.flip(repository.withExclusiveAccess(children))
  yield* repository.updateRef("refs/heads/b2", Option.none(), Option.some(commit as Oid))
  yield* repository.maintain
  fs.writeSync(1, "written\n")
})

Effect.runPromise(Effect.scoped(program)).then(
  () => process.exit(0),
  (cause) => {
    fs.writeSync(2, `${cause}\n`)
    process.exit(1)
  }
)
