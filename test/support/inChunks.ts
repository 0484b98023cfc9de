/** A text or bytes in pieces of these sizes, which are taken in turn. */
export const inChunks = <A extends string | Uint8Array>(whole: A, sizes: ReadonlyArray<number>): Array<A> => {
  const pieces: Array<A> = []
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const size = sizes[turn % sizes.length]!
    pieces.push(whole.slice(at, at + size) as A)
    at += size
  }
  return pieces
}
