import { describe } from "@effect/vitest"
import { everywhere, indexesAndBadInput } from "../store/core/IndexBadInput.js"

describe.each(everywhere)("indexes and bad input on %s", indexesAndBadInput)
