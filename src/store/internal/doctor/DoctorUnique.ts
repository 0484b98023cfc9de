import * as Effect from "effect/Effect"
import type { IndexDefinition } from "../../../domain/indexes/IndexDefinition.js"
import { valueInMessage } from "../../../domain/indexes/UniqueViolation.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import type { Finding } from "../../Doctor.js"
import { duplicatesAmong, maxListed } from "../derived/Uniqueness.js"

/** Documents that share a value of a unique index, because other programs wrote them. */
export const duplicateFindings = (
  collection: string,
  index: IndexDefinition,
  documents: ReadonlyMap<string, LosslessObject>
): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(duplicatesAmong(index, documents), (doubles) => {
    const rest = doubles.length - maxListed
    return doubles.slice(0, maxListed).map(
      ({ ids, value }, at): Finding => ({
        severity: "error",
        code: "unique-violation",
        collection,
        ids,
        message: `${collection} has ${ids.length} documents with the value ${valueInMessage(value)} of the unique index ${index.name}${at === maxListed - 1 && rest > 0 ? `, and so on for ${rest} more values` : ""}`,
        hint: "change or delete all but one of them"
      })
    )
  })
