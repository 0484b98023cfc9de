/** The edit distance (Levenshtein) between two names. */
const distance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const change = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[other.length]!
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "")

/** The known name that is closest to a misspelt one, for "did you mean"; undefined if none is close. */
export const nearest = (unknown: string, known: ReadonlyArray<string>): string | undefined => {
  const meant = plain(unknown)
  const judged = known.map((name) => {
    const other = plain(name)
    const [short, long] = meant.length < other.length ? [meant, other] : [other, meant]
    const begins = short.length >= 3 && long.startsWith(short)
    return { name, far: begins && short !== long ? 0.5 : distance(meant, other) }
  })
  const [best] = judged.sort((a, b) => a.far - b.far)
  return best !== undefined && best.far <= Math.max(1, meant.length / 3) ? best.name : undefined
}
