/** A match and its score; lower is better. */
export interface Match<A> {
  readonly item: A
  readonly score: number
}

/** The score of a name that contains the letters in order, by their positions and gaps; undefined if it does not. */
export const score = (letters: string, name: string): number | undefined => {
  const wanted = letters.toLowerCase().replace(/\s+/g, "")
  const text = name.toLowerCase()
  let at = -1
  let sum = 0
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1)
    if (next < 0) return undefined
    const isStart = next === 0 || !/[\p{L}\p{N}]/u.test(text[next - 1]!)
    sum += next === at + 1 || isStart ? 0 : next - at
    at = next
  }
  const whole = text.indexOf(letters.toLowerCase().trim())
  return whole < 0 ? sum + 10 : whole / 100
}

/** The matches, best first; equal scores keep their order. */
export const rank = <A>(
  letters: string,
  all: ReadonlyArray<A>,
  nameOf: (one: A) => string
): ReadonlyArray<Match<A>> =>
  all
    .flatMap((item) => {
      const fit = score(letters, nameOf(item))
      return fit === undefined ? [] : [{ item, score: fit }]
    })
    .sort((a, b) => a.score - b.score)
