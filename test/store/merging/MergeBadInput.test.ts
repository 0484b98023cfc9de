import { describe } from "@effect/vitest"
import { badInputOn } from "./BadInput.js"
import { places } from "./Places.js"

// The other ways to a host are in soak.
const near = ["Memory", "LocalGit", "GitHub's client on our own host, over REST"]

describe.each(places.filter(([name]) => near.includes(name)))("merging and bad input on %s", badInputOn)
