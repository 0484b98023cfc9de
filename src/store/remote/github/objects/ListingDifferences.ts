import { type FileEntry, pathChange } from "../../../../git/Tree.js"
import type { PathChange, TreeEntry } from "../../GitRemote.js"
import type { Listing } from "./Listing.js"

const same = (a: TreeEntry | undefined, b: TreeEntry | undefined) =>
  a?.oid === b?.oid && a?.path === b?.path && a?.mode === b?.mode

const fileOf = ({ mode, oid }: TreeEntry): FileEntry | undefined =>
  mode === "040000" ? undefined : { oid, mode }

/** Two lists without their common prefix and suffix. */
const middles = (left: ReadonlyArray<TreeEntry>, right: ReadonlyArray<TreeEntry>) => {
  const most = Math.min(left.length, right.length)
  let from = 0
  while (from < most && same(left[from], right[from])) from++
  let end = 0
  while (end < most - from && same(left.at(-1 - end), right.at(-1 - end))) end++
  return [left.slice(from, left.length - end), right.slice(from, right.length - end)] as const
}

/** The files that differ between two listings. Directories with the same tree id are skipped. */
export const listingDifferences = (
  left: Listing | undefined,
  right: Listing | undefined
): Array<PathChange> => {
  const found: Array<PathChange> = []
  const visit = (directory: string, isLeft: boolean, isRight: boolean) => {
    const [before, after] = middles(
      (isLeft ? left?.directories.get(directory) : undefined) ?? [],
      (isRight ? right?.directories.get(directory) : undefined) ?? []
    )
    const byName = new Map(after.map((entry) => [entry.path, entry]))
    const compare = (name: string, was: TreeEntry | undefined, is: TreeEntry | undefined) => {
      if (was?.oid === is?.oid && was?.mode === is?.mode) return
      const path = directory === "" ? name : `${directory}/${name}`
      const [before, after] = [was && fileOf(was), is && fileOf(is)]
      if (before !== undefined || after !== undefined) found.push(pathChange(path, before, after))
      if (was?.kind === "tree" || is?.kind === "tree") visit(path, was?.kind === "tree", is?.kind === "tree")
    }
    for (const entry of before) {
      compare(entry.path, entry, byName.get(entry.path))
      byName.delete(entry.path)
    }
    for (const [name, entry] of byName) compare(name, undefined, entry)
  }
  visit("", left !== undefined, right !== undefined)
  return found
}
