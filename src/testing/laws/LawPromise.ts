/**
 * What a law checks, and where the documentation promises it.
 *
 * @since 0.1.0
 * @category models
 */
export interface LawPromise {
  /** The promise in a few words. */
  readonly title: string
  /** The sentence, as the page has it. */
  readonly sentence: string
  /** The page and the section that have the sentence. */
  readonly link: string
}
