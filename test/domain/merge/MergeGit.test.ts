import { assert, it } from "@effect/vitest"
import { checkAgainstGit } from "../../support/mergeLaws.js"

it("merges agree with Git where it merges one field a line", () => {
  assert.isAbove(checkAgainstGit(150), 20)
}, 60_000)
