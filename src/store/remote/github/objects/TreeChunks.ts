/** A content larger than this travels as a blob of its own. */
export const inlineMax = 400_000

/** What one request may carry: GitHub gives up on a tree after ten seconds, seen from 200 files or 2.5 MB of text on. */
const chunkBytes = 1_500_000
const chunkTexts = 200
const chunkEntries = 1_000

/** Cuts entries into requests; the tree of each is the base of the next, so that one commit holds them all. */
export const inChunks = <A extends { readonly bytes: number }>(
  entries: ReadonlyArray<A>
): ReadonlyArray<ReadonlyArray<A>> => {
  const chunks: Array<Array<A>> = []
  let bytes = 0
  let texts = 0
  for (const entry of entries) {
    const last = chunks[chunks.length - 1]
    const text = entry.bytes > 0 ? 1 : 0
    if (
      last === undefined ||
      bytes + entry.bytes > chunkBytes ||
      texts + text > chunkTexts ||
      last.length >= chunkEntries
    ) {
      chunks.push([entry])
      bytes = entry.bytes
      texts = text
    } else {
      last.push(entry)
      bytes += entry.bytes
      texts += text
    }
  }
  return chunks
}

/** How many requests the tree of a commit takes. */
export const treeRequests = (changes: number, bytes: number): number => {
  if (changes === 0) return 0
  const each = bytes / changes
  return each > inlineMax
    ? changes + Math.ceil(changes / chunkEntries)
    : Math.ceil(changes / Math.min(chunkTexts, Math.max(1, Math.floor(chunkBytes / Math.max(1, each)))))
}
