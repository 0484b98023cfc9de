/** Some documents in order of id, and where the next page begins; `cursor` is null when nothing follows. */
export interface Page<A> {
  readonly documents: ReadonlyArray<A>
  readonly cursor: string | null
}
