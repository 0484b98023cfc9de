import type { StoredDocument } from "../../domain/document/Document.js"
import { mergeDocuments } from "../../domain/merge/index.js"
import { canonical, type State } from "../program/StoreModel.js"

const text = (document: StoredDocument | undefined): string => canonical(document ?? null)

/** What a document has to be after a merge that decides conflicts for their side. */
const mergedDocument = (
  base: StoredDocument | undefined,
  ours: StoredDocument | undefined,
  theirs: StoredDocument | undefined
): string => {
  if (text(base) === text(theirs) || text(ours) === text(theirs)) return text(ours)
  if (text(base) === text(ours) || ours === undefined || theirs === undefined) return text(theirs)
  return canonical(mergeDocuments({ base, ours, theirs }, { settle: () => "theirs" }).document)
}

/** The documents of a merge commit that are not what both sides made of them. */
export const mergeProblems = (
  base: State,
  ours: State,
  theirs: State,
  merged: State
): ReadonlyArray<string> =>
  [...new Set([...base.keys(), ...ours.keys(), ...theirs.keys(), ...merged.keys()])].flatMap((key) => {
    const wanted = mergedDocument(base.get(key), ours.get(key), theirs.get(key))
    const found = text(merged.get(key))
    return wanted === found ? [] : [`${key} is ${found}, both sides make ${wanted} of it`]
  })
