import { assert, describe, it } from "@effect/vitest"
import { checkAgainstGit, checkMergeLaws } from "../../support/mergeLaws.js"

describe("laws of merging", () => {
  it("hold for random documents, and agree with trimerge", () => {
    const { clean, compared } = checkMergeLaws(2_000)
    assert.isAbove(clean, 500)
    assert.isAbove(compared, 150)
  }, 60_000)

  it("agree with Git where it merges one field a line", () => {
    assert.isAbove(checkAgainstGit(150), 20)
  }, 60_000)
})
