import { Either } from "effect"
import { diff3Merge } from "node-diff3"
import { encode } from "../domain/CanonicalJson.js"

import { type DocumentSides, mergeDocuments } from "../domain/merge/MergeDocuments.js"
import type { MergeConflict, MergeRules, Settlement } from "../domain/merge/MergeRules.js"
import { parseSpelled, type SpelledObject } from "../domain/SpelledJson.js"

/** Three versions of a file; Git gives an empty base where both sides added the file. */
export type FileSides = DocumentSides<Uint8Array>

export interface MergedFile {
  readonly content: Uint8Array
  /** What could not be merged; none for texts that are no documents. */
  readonly conflicts: ReadonlyArray<MergeConflict>
  readonly isClean: boolean
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()
const linesOf = (content: Uint8Array) => decoder.decode(content).split("\n")

/** Texts merged by lines, with conflict markers as Git writes them. */
const mergeTexts = ({ base, ours, theirs }: FileSides): MergedFile => {
  const regions = diff3Merge(linesOf(ours), base === undefined ? [] : linesOf(base), linesOf(theirs), {
    excludeFalseConflicts: true
  })
  const lines = regions.flatMap(({ conflict, ok }) =>
    conflict === undefined
      ? (ok ?? [])
      : [
          "<<<<<<< ours",
          ...conflict.a,
          "||||||| base",
          ...conflict.o,
          "=======",
          ...conflict.b,
          ">>>>>>> theirs"
        ]
  )
  const isClean = regions.every(({ conflict }) => conflict === undefined)
  return { content: encoder.encode(lines.join("\n")), conflicts: [], isClean }
}

const bytesOf = (document: SpelledObject): Uint8Array => Either.getOrThrow(encode(document))

const mergeDocumentFiles = (sides: DocumentSides<SpelledObject>): MergedFile => {
  const { conflicts, document } = mergeDocuments(sides)
  if (conflicts.length === 0) return { content: bytesOf(document), conflicts, isClean: true }
  // The three files differ in what is in conflict, and in nothing else.
  const settled = (settle: (conflict: MergeConflict) => Settlement) =>
    bytesOf(mergeDocuments(sides, { settle }).document)
  const { content } = mergeTexts({
    base: settled(({ base }) => ({ value: base })),
    ours: settled(() => "ours"),
    theirs: settled(() => "theirs")
  })
  return { content, conflicts, isClean: false }
}

const entries: MergeRules = {
  fields: { values: { fields: { "*": "set" } }, ids: { fields: { "*": "set" } }, documents: { fields: {} } },
  settle: () => "ours"
}
const manifest: MergeRules = { ...entries, fields: { ids: "set" } }

/**
 * Index and manifest files of format 1, merged by entry. They do not name the tree that they describe, so that no
 * reader believes them before they have been rebuilt.
 */
const mergeDerived = (sides: DocumentSides<SpelledObject>): MergedFile => {
  const rules = Array.isArray(sides.ours["ids"]) ? manifest : entries
  const { tree: _, ...file } = mergeDocuments(sides, rules).document
  return { content: bytesOf(file), conflicts: [], isClean: true }
}

const derivedPath = /(^|\/)_(index|manifest)\//

/** Files of trees of format 2, which notice that their rows are not those that they describe. */
const isTree = (file: SpelledObject): boolean => !("ids" in file)

/** Merges three versions of a file that a store has written, as far as its path tells what it is. */
export const mergeFiles = (sides: FileSides, path = ""): MergedFile => {
  const isDerived = derivedPath.test(path)
  const parsed = Either.all({
    base: sides.base === undefined ? Either.right(undefined) : parseSpelled(sides.base),
    ours: parseSpelled(sides.ours),
    theirs: parseSpelled(sides.theirs)
  })
  if (Either.isRight(parsed)) {
    if (!isDerived) return mergeDocumentFiles(parsed.right)
    if (!isTree(parsed.right.ours)) return mergeDerived(parsed.right)
  }
  return isDerived ? { content: sides.ours, conflicts: [], isClean: true } : mergeTexts(sides)
}

/** Whether a file is there in bytes: Git gives an empty file for a version that there is not. */
export const versionIn = (content: Uint8Array): Uint8Array | undefined =>
  content.length === 0 ? undefined : content
