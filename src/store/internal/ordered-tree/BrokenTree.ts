import * as Data from "effect/Data"

/** The files of a tree are damaged, or lack a row that a change expects: the tree must be rebuilt. */
export class BrokenTree extends Data.TaggedError("BrokenTree")<{
  /** Relative to the tree's directory. */
  readonly path: string
  readonly message: string
}> {}
