/** Opens a repository, points branches to a commit, and says of each what came of it. */
import { Effect, Option } from "effect"
import type { Oid } from "../../../../src/domain/identifiers/Oid.js"
import * as Engine from "../../../../src/git/disk/Engine.js"

const [directory = "", commit = "", ...branches] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const repository = yield* Engine.open({ directory, maintenance: false, timeout: 1_000 })
  return yield* Effect.forEach(branches, (name) =>
    Effect.gen(function* () {
      const head = yield* repository.ref(`refs/heads/${name}`)
      return yield* repository.updateRef(`refs/heads/${name}`, head, Option.some(commit as Oid))
    }).pipe(
      Effect.match({
        onFailure: (error) => (error._tag === "RemoteError" ? error.reason : error._tag),
        onSuccess: () => "written"
      })
    )
  )
})

process.stdout.write(JSON.stringify(await Effect.runPromise(Effect.scoped(program))))
