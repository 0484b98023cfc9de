import * as Data from "effect/Data"

/** The files of a tree are not what this program writes, or not what a change expects: build the tree anew. */
export class BrokenTree extends Data.TaggedError("BrokenTree")<{
  /** Below the tree's own directory. */
  readonly path: string
  readonly message: string
}> {}
