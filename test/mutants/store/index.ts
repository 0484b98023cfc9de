import type { Mutant } from "../bundled.js"
import { brackets } from "./brackets.js"
import { branches } from "./branches.js"
import { decorators } from "./decorators.js"
import { derivedFiles } from "./derived.js"
import { documents } from "./documents.js"
import { merging } from "./merging.js"
import { proposals } from "./proposals.js"
import { reads } from "./reads.js"
import { remotes } from "./remotes.js"
import { travel } from "./travel.js"

export type { Mutant } from "../bundled.js"
export { breaks, judge } from "./judge.js"

/** Every fault of stores and remotes. */
export const mutants: ReadonlyArray<Mutant> = [
  ...documents,
  ...reads,
  ...merging,
  ...branches,
  ...proposals,
  ...derivedFiles,
  ...brackets,
  ...travel,
  ...decorators,
  ...remotes
]
