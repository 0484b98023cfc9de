/** Opens a repository, and answers each call of a line of its input, as `{"read": "OID"}`, by a line of JSON. */
import { createInterface } from "node:readline"
import { Effect, Logger, Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../../src/git/disk/port/GitRepository.js"
import { put, write } from "./temporary.js"

/** A call to the repository. */
export type Call =
  | { readonly write: string }
  | { readonly read: string }
  | { readonly commit: string }
  | { readonly ask: "health" | "maintain" }

const answer = (repository: GitRepository, call: Call): Effect.Effect<unknown, object> => {
  if ("write" in call) {
    return Effect.map(write(repository, [put(call.write, call.write)]), ({ blobs }) => blobs.get(call.write))
  }
  if ("read" in call) {
    return Effect.map(repository.object(call.read as Oid), (found) =>
      Option.isSome(found) ? Buffer.from(found.value.content).toString() : "none"
    )
  }
  if ("commit" in call) return Effect.map(repository.commit(call.commit as Oid), Option.isSome)
  return call.ask === "health" ? repository.health : Effect.as(repository.maintain, "done")
}

const [directory = ""] = process.argv.slice(2)
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false })
  for (;;) {
    const line = yield* Effect.promise(() => lines.next())
    if (line.done === true) return
    const said = yield* Effect.merge(answer(repository, JSON.parse(line.value)))
    process.stdout.write(`${JSON.stringify(said)}\n`)
  }
})

await Effect.runPromise(
  Effect.provide(
    Effect.scoped(program),
    Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger))
  )
)
