import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { buildTree } from "./Build.js"
import { filesIn } from "./FileEdits.js"
import type { Entry } from "./Leaf.js"
import { formatLimits, type TreeLimits } from "./TreeLimits.js"
import type { TreeReader } from "./TreeReader.js"

/** A file of a tree that differs from a rebuilt tree. */
export interface TreeProblem {
  readonly path: string
  readonly problem: "missing" | "different" | "unexpected"
}

/** Compares a tree with a tree that is built from all its rows, by the ids of the files: no leaf is read. */
export const verifyTree = <E, E2>(
  reader: TreeReader<E>,
  path: string,
  rows: Stream.Stream<Entry, E2>,
  tree: Oid,
  limits: TreeLimits = formatLimits,
  index?: string
): Effect.Effect<ReadonlyArray<TreeProblem>, E | E2> =>
  Effect.gen(function* () {
    const { files } = yield* buildTree(rows, tree, () => Effect.void, limits, index)
    const actual = new Map((yield* filesIn(reader, path)).map(({ oid, path }) => [path, oid]))
    const problems: Array<TreeProblem> = []
    for (const { oid, path } of files) {
      const found = actual.get(path)
      if (found !== oid) problems.push({ path, problem: found === undefined ? "missing" : "different" })
      actual.delete(path)
    }
    for (const path of actual.keys()) problems.push({ path, problem: "unexpected" })
    return problems
  })
