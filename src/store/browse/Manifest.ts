import type { Json, JsonObject } from "../../domain/Document.js"

/** What a manifest file says of its collection. */
export interface ManifestFile {
  readonly ids: ReadonlyArray<string>
  readonly documents: ReadonlyMap<string, JsonObject>
  readonly fields: ReadonlyArray<string>
  /** The tree of the collection that it describes. */
  readonly tree: string | undefined
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads a manifest file; nothing when it is not one, or is in a form that is not known. */
export const parseManifest = (content: Uint8Array): ManifestFile | undefined => {
  let parsed: Json
  try {
    parsed = JSON.parse(new TextDecoder().decode(content)) as Json
  } catch {
    return undefined
  }
  if (!isObject(parsed) || !Array.isArray(parsed["ids"])) return undefined
  const documents = new Map<string, JsonObject>()
  const fields = new Set<string>()
  const projected = parsed["documents"]
  if (isObject(projected)) {
    for (const [id, document] of Object.entries(projected)) {
      if (!isObject(document)) continue
      for (const field of Object.keys(document)) fields.add(field)
      documents.set(id, { _id: id, ...document })
    }
  }
  const tree = parsed["tree"]
  return {
    ids: parsed["ids"].filter((id): id is string => typeof id === "string"),
    documents,
    fields: [...fields],
    tree: typeof tree === "string" ? tree : undefined
  }
}
