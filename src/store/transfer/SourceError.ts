import { StoreError } from "../../domain/errors/StoreError.js"

/**
 * Reading a source of records (a database, a file) failed; `cause` is the original error.
 *
 * @since 0.1.0
 * @category errors
 */
export class SourceError extends StoreError {
  readonly _tag = "SourceError"
  override readonly name = "SourceError"
}
