import * as Either from "effect/Either"
import { runSync } from "../../domain/concurrency/Steps.js"
import { type Difference, differences } from "../../store/browse/Difference.js"
import { readDocument } from "../../store/browse/EditText.js"
import type { EditableDocument } from "../../store/browse/StagedEdits.js"
import { contentOf, type DocumentRow } from "../../store/transfer/ImportRow.js"

/** What the import of a row would do to its document; `unreadable` if the stored document cannot be parsed. */
export interface ImportedChange {
  readonly id: string
  readonly action: "insert" | "replace" | "unchanged" | "unreadable"
  readonly fields: ReadonlyArray<Difference>
}

/** Compares a row with the stored document of its id, or null for none. */
export const importedChange = (
  { content, document, id }: Pick<DocumentRow, "content" | "document" | "id">,
  base: EditableDocument | null
): ImportedChange => {
  if (base === null) return { id, action: "insert", fields: differences(null, document) }
  const before = runSync(readDocument(base.text))
  if (Either.isLeft(before)) return { id, action: "unreadable", fields: differences(null, document) }
  if (contentOf(before.right) === content) return { id, action: "unchanged", fields: [] }
  return { id, action: "replace", fields: differences(before.right, document) }
}
