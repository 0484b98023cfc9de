import type { Mutant } from "../bundled.js"
import { building } from "./building.js"
import { calling } from "./calling.js"
import { executing } from "./executing.js"
import { reporting } from "./reporting.js"
import { surroundings } from "./surroundings.js"
import { wrapping } from "./wrapping.js"

export type { Mutant } from "../bundled.js"
export { parameters } from "./checks.js"
export { judge, load } from "./judge.js"

/** Every fault of chains. */
export const mutants: ReadonlyArray<Mutant> = [
  ...building,
  ...wrapping,
  ...calling,
  ...executing,
  ...reporting,
  ...surroundings
]
