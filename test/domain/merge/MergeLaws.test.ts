import { assert, it } from "@effect/vitest"
import { checkMergeLaws } from "../../support/mergeLaws.js"

it("laws of merging hold for random documents, and agree with trimerge", () => {
  const { clean, compared } = checkMergeLaws(2_000)
  assert.isAbove(clean, 500)
  assert.isAbove(compared, 150)
}, 60_000)
