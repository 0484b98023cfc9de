import type { JsonObject } from "../../domain/json/Json.js"

const setByWrites = new Set(["_rev", "_created_at", "_updated_at"])

/** A document without what every write sets, for the preview of a write. */
export const contentOf = (document: JsonObject | null): JsonObject | null =>
  document === null
    ? null
    : Object.fromEntries(Object.entries(document).filter(([name]) => !setByWrites.has(name)))
