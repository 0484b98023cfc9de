import { describe } from "@effect/vitest"
import { isWhole } from "../../support/vitest/caseSelection.js"
import { everywhere, indexesAndBadInput } from "./IndexBadInput.js"

// All of them are in soak.
const near = isWhole ? everywhere : everywhere.slice(0, 2)

describe.each(near)("indexes and bad input on %s", indexesAndBadInput)
