import { building } from "./building.js"
import { executing } from "./executing.js"
import type { Mutant } from "./Mutant.js"
import { reporting } from "./reporting.js"
import { surroundings } from "./surroundings.js"

export { judge, parameters } from "./judge.js"
export { load, type Mutant } from "./Mutant.js"

/** Every fault of chains. */
export const mutants: ReadonlyArray<Mutant> = [...building, ...executing, ...reporting, ...surroundings]
