import * as Effect from "effect/Effect"
import type { IndexDefinition } from "../../../domain/indexes/IndexDefinition.js"
import { valueInMessage } from "../../../domain/indexes/UniqueViolation.js"
import type { LosslessObject } from "../../../domain/json/LosslessJson.js"
import type { Finding } from "../../Doctor.js"
import { doublesAmong, mostListed } from "../derived/Uniqueness.js"

/** Documents that share a value of a unique index, because other programs wrote them. */
export const doubleFindings = (
  collection: string,
  index: IndexDefinition,
  documents: ReadonlyMap<string, LosslessObject>
): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(doublesAmong(index, documents), (doubles) => {
    const rest = doubles.length - mostListed
    return doubles.slice(0, mostListed).map(
      ({ ids, value }, at): Finding => ({
        severity: "error",
        code: "unique-violation",
        collection,
        ids,
        message: `${collection} has ${ids.length} documents with the value ${valueInMessage(value)} of the unique index ${index.name}${at === mostListed - 1 && rest > 0 ? `, and so on for ${rest} more values` : ""}`,
        hint: "change or delete all but one of them"
      })
    )
  })
