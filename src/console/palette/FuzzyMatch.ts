/** What was found, and how well it fits: less is better. */
export interface Match<A> {
  readonly item: A
  readonly score: number
}

/** How well letters fit a name in which they appear in order: by where they are, and the gaps between; none if they do not. */
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

/** What fits, the best first; what fits as well keeps its order. */
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
