import { Either } from "effect"
import { parseLosslessOrEmpty } from "../domain/json/LosslessJson.js"
import type { DocumentSides } from "../domain/merge/MergeDocuments.js"

/** The files in `_index` and `_manifest`: an index or manifest of format 1, or a file of a tree of format 2. */
export type DerivedKind = "index" | "manifest" | "tree"

const decoder = new TextDecoder("utf-8", { fatal: true })

interface Members {
  readonly [name: string]: unknown
}

const isRecord = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const hasOnly = (file: Members, ...names: ReadonlyArray<string>) =>
  Object.keys(file).every((name) => names.includes(name))

const isIndex = (file: Members): boolean =>
  isRecord(file["values"]) &&
  isRecord(file["ids"]) &&
  hasOnly(file, "_index", "collection", "updated_at", "values", "ids", "tree")

const isManifest = (file: Members): boolean =>
  Array.isArray(file["ids"]) &&
  isRecord(file["documents"]) &&
  hasOnly(file, "collection", "updated_at", "count", "ids", "documents", "tree")

const isHeader = (file: Members): boolean =>
  file["format"] === 2 &&
  typeof file["rows"] === "string" &&
  hasOnly(file, "format", "tree", "rows", "count", "index")

const isLeaf = (content: Uint8Array): boolean =>
  Either.getOrElse(
    Either.try(() => {
      const rows: unknown = JSON.parse(decoder.decode(content))
      return Array.isArray(rows) && rows.every((row) => isRecord(row) && typeof row["_id"] === "string")
    }),
    () => false
  )

const derivedPath = /(^|\/)_(index|manifest)\//

/**
 * The kind of a file that a store derives from documents; undefined for any other file. The path is not sufficient,
 * because any directory of a repository may have these names: each version must have the format of such a file.
 */
export const derivedKind = (
  path: string,
  { base, ours, theirs }: DocumentSides<Uint8Array>
): DerivedKind | undefined => {
  if (!derivedPath.test(path)) return undefined
  const versions = [base, ours, theirs].filter((content) => content !== undefined)
  const files = versions.map(parseLosslessOrEmpty)
  if (files.every(isIndex)) return "index"
  if (files.every(isManifest)) return "manifest"
  return files.every(isHeader) || versions.every(isLeaf) ? "tree" : undefined
}
