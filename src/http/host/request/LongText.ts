import type { Stream } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Base64Scan } from "./Base64Content.js"

/** A string of a JSON body that is too long to be one in memory. */
export class LongText {
  constructor(
    /** How many bytes it has in UTF-8. */
    readonly size: number,
    /** What it comes to if it is base64. */
    readonly base64: Base64Scan,
    /** Itself in UTF-8, as often as it is asked for while the request lasts. */
    readonly utf8: Stream.Stream<Uint8Array, RemoteError>
  ) {}

  /** How it is shown where something else was expected. */
  toJSON(): string {
    return `(a text of ${this.size} bytes)`
  }
}
