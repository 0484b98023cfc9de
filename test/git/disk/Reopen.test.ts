import * as fs from "node:fs"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as GitRepositories from "../../../src/git/disk/GitRepositories.js"
import { directory } from "../../store/core/Remotes.js"

// Anything that is over in a moment: a full disk, no descriptors left, a configuration that is being edited.
it.scopedLive("one failure to open a repository is not remembered", () =>
  Effect.gen(function* () {
    const root = yield* directory
    const repositories = yield* GitRepositories.make({ directory: root, idle: "500 millis" })
    yield* Effect.scoped(repositories.create("o", "first"))
    const at = `${root}/o/second.git`
    fs.cpSync(`${root}/o/first.git`, at, { recursive: true })
    const open = Effect.map(
      Effect.either(Effect.scoped(repositories.open("o", "second"))),
      ({ _tag }) => _tag
    )
    fs.writeFileSync(`${at}/config`, "[extensions]\n\tobjectformat = sha256\n")
    const told = [yield* open]
    fs.writeFileSync(`${at}/config`, "[core]\n\tbare = true\n")
    // Requests go on coming in, so that what was opened is never idle.
    for (let n = 0; n < 15; n++) {
      yield* Effect.sleep(100)
      told.push(yield* open)
    }
    assert.deepStrictEqual(
      told.slice(1),
      Array.from({ length: 15 }, () => "Right")
    )
  })
)
