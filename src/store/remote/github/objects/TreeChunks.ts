/** Larger contents are uploaded as blobs. */
export const inlineMax = 400_000

/** The limits of one request. GitHub times out after ten seconds, as measured from 200 files or 2.5 MB of text on. */
const chunkBytes = 1_500_000
const chunkTexts = 200
const chunkEntries = 1_000

/** Splits entries into requests. The tree of each request is the base of the next one. */
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

/** The number of requests for the tree of a commit. */
export const treeRequests = (changes: number, bytes: number): number => {
  if (changes === 0) return 0
  const each = bytes / changes
  return each > inlineMax
    ? changes + Math.ceil(changes / chunkEntries)
    : Math.ceil(changes / Math.min(chunkTexts, Math.max(1, Math.floor(chunkBytes / Math.max(1, each)))))
}
