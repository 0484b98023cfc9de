/**
 * Some documents in order of id, and where the next page begins; `cursor` is null when nothing follows.
 *
 * @since 0.1.0
 * @category models
 */
export interface Page<A> {
  /** The documents of this page, in order. */
  readonly documents: ReadonlyArray<A>
  /** Where the next page begins; null on the last one. */
  readonly cursor: string | null
}
