import { Either } from "effect"
import * as Steps from "../domain/concurrency/Steps.js"
import { encode } from "../domain/json/CanonicalJson.js"
import type { Json } from "../domain/json/Json.js"
import { sizeProblem } from "../domain/json/JsonText.js"
import { type LosslessJson, type LosslessObject, parseExact } from "../domain/json/LosslessJson.js"
import { LosslessNumber } from "../domain/json/NumberText.js"
import { isObject, own } from "../domain/merge/JsonIdentity.js"
import { isSame, regionsOf } from "../domain/merge/ListComparison.js"
import { type DocumentSides, mergingExact } from "../domain/merge/MergeDocuments.js"
import type { MergeConflict, MergeRules } from "../domain/merge/MergeRules.js"
import { derivedKind } from "./DerivedFileKind.js"

/** Three versions of a file. Git passes an empty base if both sides added the file. */
export type FileSides = DocumentSides<Uint8Array>

export interface MergedFile {
  readonly content: Uint8Array
  /** The conflicts of a document; empty for other texts. */
  readonly conflicts: ReadonlyArray<MergeConflict>
  readonly isClean: boolean
  /** Why the merged document cannot be written. The content is that of our side then. */
  readonly problem?: string | undefined
}

/** Decodes each byte as one character, so that text in any encoding keeps its bytes. */
const charactersOf = (content: Uint8Array): string =>
  Array.from(content, (byte) => String.fromCharCode(byte)).join("")

const contentOf = (characters: string): Uint8Array =>
  Uint8Array.from(characters, (character) => character.charCodeAt(0))

type Lines = ReadonlyArray<string>
const linesOf = (content: Uint8Array): Lines => charactersOf(content).split("\n")

/** Merges texts by lines, with conflict markers like those of Git. `lineText` converts each line in conflict. */
const mergeLines = ({ base, ours, theirs }: DocumentSides<Lines>, lineText = (line: string) => line) => {
  let isClean = true
  const lines = Steps.runSync(regionsOf(base ?? [], ours, theirs)).flatMap((region): Lines => {
    if (region._tag === "Merged") return region.items
    if (isSame(region.ours, region.theirs)) return region.ours
    isClean = false
    return [
      "<<<<<<< ours",
      ...region.ours.map(lineText),
      "||||||| base",
      ...region.base.map(lineText),
      "=======",
      ...region.theirs.map(lineText),
      ">>>>>>> theirs"
    ]
  })
  return { content: contentOf(lines.join("\n")), isClean }
}

/** Merges texts. Like Git, treats a file with a zero byte as binary. */
const mergeTexts = ({ base, ours, theirs }: FileSides): MergedFile => {
  if ([base, ours, theirs].some((content) => content?.includes(0))) {
    return { content: ours, conflicts: [], isClean: false }
  }
  const sides = { base: base && linesOf(base), ours: linesOf(ours), theirs: linesOf(theirs) }
  return { ...mergeLines(sides), conflicts: [] }
}

const bytesOf = (value: LosslessJson): Uint8Array => Either.getOrThrow(encode(value))

const sideNames = ["base", "ours", "theirs"] as const
type SideName = (typeof sideNames)[number]

/** A line with the placeholder for the value of one side in one conflict. Placeholders are not valid JSON. */
const placeholderLine = /^(( *).*)<(base|ours|theirs) (\d+)>(,?)$/

/**
 * The document with conflict markers around every value in conflict. The three texts contain placeholders at the
 * conflicts, so that they differ at every conflict and nowhere else, even if the values would merge by lines.
 */
const withMarkers = (
  sides: DocumentSides<LosslessObject>,
  conflicts: ReadonlyArray<MergeConflict>,
  rules: MergeRules
) => {
  const textOf = (side: SideName) => {
    let at = 0
    const settle: MergeRules["settle"] = (conflict) => {
      const value = new LosslessNumber(`<${side} ${at++}>`) as unknown as Json
      return { value: conflict[side] === undefined ? undefined : value }
    }
    return linesOf(bytesOf(Steps.runSync(mergingExact(sides, { ...rules, settle })).document))
  }
  const valueAt = (side: SideName, at: number): LosslessJson =>
    conflicts[at]!.path.reduce<LosslessJson | undefined>(
      (value, name) => (isObject(value) ? own(value, String(name)) : undefined),
      sides[side]
    ) ?? null
  const lineText = (line: string): string => {
    const [, before, indent, side, at, after] = placeholderLine.exec(line) ?? []
    if (before === undefined) return line
    const text = charactersOf(bytesOf(valueAt(side as SideName, Number(at)))).trimEnd()
    return `${before}${text.replaceAll("\n", `\n${indent}`)}${after}`
  }
  const [base, ours, theirs] = sideNames.map(textOf) as [Lines, Lines, Lines]
  return mergeLines({ base, ours, theirs }, lineText).content
}

const mergeDocumentFiles = (sides: DocumentSides<LosslessObject>, rules: MergeRules): MergedFile => {
  const { conflicts, document } = Steps.runSync(mergingExact(sides, rules))
  return conflicts.length === 0
    ? { content: bytesOf(document), conflicts, isClean: true }
    : { content: withMarkers(sides, conflicts, rules), conflicts, isClean: false }
}

const entries: MergeRules = {
  fields: { values: { fields: { "*": "set" } }, ids: { fields: { "*": "set" } }, documents: { fields: {} } },
  settle: () => "ours"
}
const manifest: MergeRules = { ...entries, fields: { ids: "set" } }

/**
 * Merges index and manifest files of format 1 by entry. Removes the id of the tree that they describe, so that readers
 * do not trust them before they are rebuilt.
 */
const mergeDerived = (sides: DocumentSides<LosslessObject>, rules: MergeRules): MergedFile => {
  const { tree: _, ...file } = Steps.runSync(mergingExact(sides, rules)).document
  return { content: bytesOf(file), conflicts: [], isClean: true }
}

const byteOrderMark = [0xef, 0xbb, 0xbf] as const
const isMarked = (content: Uint8Array) => byteOrderMark.every((byte, at) => content[at] === byte)

/**
 * Merges three versions of a file by its kind, which its path and content determine: documents by the rules of their
 * collection, derived files by entry, and other files by lines.
 */
export const mergeFiles = (sides: FileSides, path = "", rules: MergeRules = {}): MergedFile => {
  const kind = derivedKind(path, sides)
  // Readers of a tree of format 2 detect that it does not describe the merged documents.
  if (kind === "tree") return { content: sides.ours, conflicts: [], isClean: true }
  const parsed = Either.all({
    base: sides.base === undefined ? Either.right(undefined) : parseExact(sides.base),
    ours: parseExact(sides.ours),
    theirs: parseExact(sides.theirs)
  })
  if (Either.isLeft(parsed)) return mergeTexts(sides)
  if (kind !== undefined) return mergeDerived(parsed.right, kind === "manifest" ? manifest : entries)
  const merged = mergeDocumentFiles(parsed.right, rules)
  const problem = merged.isClean ? Steps.runSync(sizeProblem(merged.content)) : undefined
  if (problem !== undefined) return { ...merged, content: sides.ours, isClean: false, problem }
  const mark = isMarked(sides.ours) ? byteOrderMark : []
  return { ...merged, content: Uint8Array.from([...mark, ...merged.content]) }
}

/** The content of a version; undefined if it is missing, for which Git passes an empty file. */
export const versionIn = (content: Uint8Array): Uint8Array | undefined =>
  content.length === 0 ? undefined : content
