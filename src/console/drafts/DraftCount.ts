import { useEffect, useState } from "preact/hooks"
import { trim } from "../../domain/text/TrimText.js"
import type { SessionView } from "../../http/console/Api.js"

/** What the keys of a repository's drafts begin with in the browser's storage, however its root is written. */
export const draftsOf = ({ api, branch, repo, root }: SessionView): string =>
  `chainstore.draft ${JSON.stringify([api, repo, branch, trim(root, /\//)])} `

/** What the keys of all drafts of a repository begin with, whatever their branch and root. */
export const repositoryDraftsOf = ({ api, repo }: SessionView): string =>
  `chainstore.draft ${JSON.stringify([api, repo]).slice(0, -1)},`

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

/** The other tabs hear of a change from the browser, and this one from us. */
export const tell = () => dispatchEvent(new Event("storage"))

/** Deletes drafts, also those that cannot be read. */
export const forget = (drafts: string): void => {
  for (const key of keysOf(drafts)) localStorage.removeItem(key)
  tell()
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
