import type * as Effect from "effect/Effect"
import type { ValidationError } from "../domain/errors/StoreError.js"

/**
 * What happens to a stored document that does not match the collection's schema, in reads of many documents.
 *
 * @since 0.1.0
 * @category models
 */
export type OnInvalid = "fail" | "skip" | ((id: string, error: ValidationError) => Effect.Effect<void>)
