/**
 * One page of documents in the order of their ids.
 *
 * @since 0.1.0
 * @category models
 */
export interface Page<A> {
  /** The documents of this page, in order. */
  readonly documents: ReadonlyArray<A>
  /** The cursor of the next page; null on the last page. */
  readonly cursor: string | null
}
