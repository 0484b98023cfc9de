import type { Stream } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Base64Scan } from "./Base64Content.js"

/** A long string of a JSON body, which is stored in a temporary file. */
export class LongText {
  constructor(
    /** Its size in bytes as UTF-8. */
    readonly size: number,
    /** The result of validating it as base64. */
    readonly base64: Base64Scan,
    /** Its bytes as UTF-8. The stream can be run repeatedly during the request. */
    readonly utf8: Stream.Stream<Uint8Array, RemoteError>
  ) {}

  /** Its representation in error messages. */
  toJSON(): string {
    return `(a text of ${this.size} bytes)`
  }
}
