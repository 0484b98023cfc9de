import { describe } from "@effect/vitest"
import { everywhere, indexesAndBadInput } from "./IndexBadInput.js"

// All of them are in soak.
const near = everywhere.slice(0, 3)

describe.each(near)("indexes and bad input on %s", indexesAndBadInput)
