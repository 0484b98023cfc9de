/**
 * A number of a JSON text that JavaScript cannot represent exactly. Keeps its text, so that no digit is lost.
 *
 * @since 0.1.0
 * @category models
 */
export class UnheldNumber {
  /** @param text The number as the file spells it. */
  constructor(readonly text: string) {}
  /** The number as the file spells it. */
  toString() {
    return this.text
  }
}
