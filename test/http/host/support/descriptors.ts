/** Requests a public repository while this process has no free file descriptor, and again later. */
import * as fs from "node:fs"
import { NodeContext } from "@effect/platform-node"
import { Cause, Effect, Exit, Layer } from "effect"
import { GitRepositories } from "../../../../src/git/disk/GitRepositories.js"
import { anonymous } from "../../../../src/http/host/access/Principal.js"
import * as RateLimits from "../../../../src/http/host/access/RateLimits.js"
import * as HostLayer from "../../../../src/http/host/HostLayer.js"
import * as Faults from "../../../../src/http/host/repository/Faults.js"
import * as GitCommand from "../../../../src/http/host/repository/GitCommand.js"
import { Repositories } from "../../../../src/http/host/repository/Repositories.js"

const [directory = ""] = process.argv.slice(2)

const takeAll = (): ReadonlyArray<number> => {
  const taken: Array<number> = []
  try {
    for (;;) taken.push(fs.openSync("/dev/null", "r"))
  } catch {
    return taken
  }
}

const outcome = <A>(exit: Exit.Exit<A, { readonly _tag: string }>): string =>
  Exit.isSuccess(exit)
    ? "Success"
    : exit.cause._tag === "Fail"
      ? exit.cause.error._tag
      : Cause.pretty(exit.cause)

const program = Effect.gen(function* () {
  const repositories = yield* Repositories
  const registry = yield* GitRepositories
  yield* Effect.scoped(repositories.create("local", "open", { private: false, description: null }))
  fs.renameSync(`${directory}/repos/local/open.git`, `${directory}/repos/local/public.git`)
  const git = yield* registry.open("local", "public")
  const ask = Effect.all([
    Effect.map(Effect.exit(Effect.scoped(repositories.openForRead(anonymous, "local", "public"))), outcome),
    Effect.map(Effect.exit(GitCommand.output({ directory: git.directory, args: ["for-each-ref"] })), outcome)
  ])
  const taken = takeAll()
  const without = yield* ask
  for (const fd of taken) fs.closeSync(fd)
  return { without, after: yield* ask }
})

const stack = HostLayer.layerWith({ atRoot: true, createOnFirstUse: false, directory }).pipe(
  Layer.provideMerge(Layer.merge(RateLimits.layer({}), Faults.layer)),
  Layer.provideMerge(HostLayer.layerRepositories(directory, { durability: "none", maintenance: false })),
  Layer.provide(NodeContext.layer)
)

process.stdout.write(JSON.stringify(await Effect.runPromise(Effect.scoped(Effect.provide(program, stack)))))
