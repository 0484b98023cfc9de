/** Prepares a repository, and waits for a file before the last write. */
import * as fs from "node:fs"
import * as path from "node:path"
import { Effect } from "effect"
import * as GitRepositories from "../../../../src/git/disk/GitRepositories.js"
import { put, write } from "./temporary.js"

const [directory = "", flags = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const repositories = yield* GitRepositories.make({ directory })
  yield* repositories.prepare((repository) =>
    Effect.gen(function* () {
      yield* write(repository, [put("a", "1")])
      fs.writeFileSync(`${flags}/made.next`, path.dirname(repository.directory))
      fs.renameSync(`${flags}/made.next`, `${flags}/made`)
      yield* Effect.repeat(Effect.sleep(20), { until: () => fs.existsSync(`${flags}/go`) })
      yield* write(repository, [put("a", "2")])
    })
  )
})

await Effect.runPromise(Effect.scoped(program))
