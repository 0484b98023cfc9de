import { StoreError } from "../../domain/errors/StoreError.js"

/**
 * A source of records (a database, a file) failed while it was read; `cause` is its own error.
 *
 * @since 0.1.0
 * @category errors
 */
export class SourceError extends StoreError {
  readonly _tag = "SourceError"
  override readonly name = "SourceError"
}
