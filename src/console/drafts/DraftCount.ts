import { useEffect, useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"

/** What the keys of a repository's drafts begin with in the browser's storage. */
export const draftsOf = ({ api, branch, repo, root }: SessionView): string =>
  `chainstore.draft ${JSON.stringify([api, repo, branch, root])} `

/** Where a repository's drafts lie, by collection and id. */
export const keysOf = (drafts: string): ReadonlyArray<string> => {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(drafts))
      .sort()
  } catch {
    return []
  }
}

/** How many drafts there are, in this tab and all others. */
export const useDraftCount = (drafts: string): number => {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const look = () => setCount(keysOf(drafts).length)
    look()
    addEventListener("storage", look)
    return () => removeEventListener("storage", look)
  }, [drafts])
  return count
}
