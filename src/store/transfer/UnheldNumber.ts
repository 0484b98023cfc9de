/**
 * A number of a JSON text that a JavaScript number cannot hold: its text, so that nothing is silently changed.
 *
 * @since 0.1.0
 * @category models
 */
export class UnheldNumber {
  /** @param text The number as its file has it. */
  constructor(readonly text: string) {}
  /** The number as its file has it. */
  toString() {
    return this.text
  }
}
