import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bundled } from "../../support/bundled.js"
import { temporary } from "./support/temporary.js"

const script = bundled(new URL("./support/open.ts", import.meta.url))

/** What a process whose PATH holds this Git, or none, is told when it opens a repository. */
const toldWith = (git: string | undefined) =>
  Effect.map(temporary, (place) => {
    fs.mkdirSync(`${place}/bin`)
    if (git !== undefined) fs.writeFileSync(`${place}/bin/git`, `#!/bin/sh\n${git}\n`, { mode: 0o755 })
    const output = execFileSync(process.execPath, [script, `${place}/made.git`], {
      env: { ...process.env, PATH: `${place}/bin` },
      encoding: "utf8"
    })
    assert.isFalse(fs.existsSync(`${place}/made.git`), "nothing is made without Git")
    return JSON.parse(output)
  })

describe("opening needs a Git that is new enough", () => {
  for (const version of ["2.38.9", "1.99.0"]) {
    it.scopedLive(
      `Git ${version} is too old`,
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* toldWith(`echo git version ${version}`), {
            reason: "Unsupported",
            message: `Git 2.39 or newer is needed, found git version ${version}`,
            hint: "Install a newer Git and put it on the PATH"
          })
        }),
      30_000
    )
  }

  it.scopedLive(
    "no Git at all",
    () =>
      Effect.gen(function* () {
        const told = yield* toldWith(undefined)
        assert.strictEqual(told.reason, "Unsupported")
        assert.match(told.hint, /Install Git/)
      }),
    30_000
  )
})
