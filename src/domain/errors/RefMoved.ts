import * as Data from "effect/Data"
import type * as Option from "effect/Option"
import type { Oid } from "../identifiers/Oid.js"

/**
 * The branch moved between the read and the write. `actual` is its current head; none if it was deleted or is unknown.
 *
 * @since 0.1.0
 * @category models
 */
export class RefMoved extends Data.TaggedError("RefMoved")<{
  readonly ref: string
  readonly expected: Option.Option<Oid>
  readonly actual: Option.Option<Oid>
}> {
  /** Names the actual and the expected head. */
  override get message() {
    const short = (oid: Option.Option<Oid>) => (oid._tag === "Some" ? oid.value.slice(0, 7) : "absent")
    return `${this.ref} is at ${short(this.actual)}, expected ${short(this.expected)}`
  }
}
