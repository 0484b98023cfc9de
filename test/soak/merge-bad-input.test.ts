import { describe } from "@effect/vitest"
import { badInputOn } from "../store/merging/BadInput.js"
import { places } from "../store/merging/Places.js"

describe.each(places)("merging and bad input on %s", badInputOn)
