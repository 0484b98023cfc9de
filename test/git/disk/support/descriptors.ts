/** Asks Git for history while this process has no file descriptor left, and once more when it has some again. */
import * as fs from "node:fs"
import { Effect, Either, Option, Stream } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../../src/git/disk/Engine.js"

const [directory = ""] = process.argv.slice(2)

const takeAll = (): ReadonlyArray<number> => {
  const taken: Array<number> = []
  try {
    for (;;) taken.push(fs.openSync("/dev/null", "r"))
  } catch {
    return taken
  }
}

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory })
  const head = Option.getOrThrow(yield* repository.resolve("main"))
  const ask = Effect.all(
    {
      // A filter by author needs a Git process.
      log: Stream.runCount(repository.log(head, { author: "." })),
      unknown: repository.object("1".repeat(40) as Oid)
    },
    { mode: "either" }
  )
  const taken = takeAll()
  const without = yield* ask
  for (const fd of taken) fs.closeSync(fd)
  const after = yield* ask
  return {
    without: Object.values(without).map(({ _tag }) => _tag),
    after: Object.values(after).map(({ _tag }) => _tag),
    reason: Either.isLeft(without.log) ? without.log.left.reason : undefined
  }
})

process.stdout.write(JSON.stringify(await Effect.runPromise(Effect.scoped(program))))
