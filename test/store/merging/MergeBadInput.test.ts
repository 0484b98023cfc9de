import { describe } from "@effect/vitest"
import { isWhole } from "../../support/vitest/caseSelection.js"
import { badInputOn } from "./BadInput.js"
import { mergeRemotes } from "./MergeRemotes.js"

// The ways to a host are in soak.
const near = ["Memory", "LocalGit"]

describe.each(mergeRemotes.filter(([name]) => isWhole || near.includes(name)))(
  "merging and bad input on %s",
  badInputOn
)
