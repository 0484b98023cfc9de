import { describe } from "@effect/vitest"
import { isWhole } from "../../support/vitest/whole.js"
import { badInputOn } from "./BadInput.js"
import { places } from "./Places.js"

// The ways to a host are in soak.
const near = ["Memory", "LocalGit"]

describe.each(places.filter(([name]) => isWhole || near.includes(name)))(
  "merging and bad input on %s",
  badInputOn
)
