import { useEffect, useState } from "preact/hooks"
import { trim } from "../../domain/text/TrimText.js"
import type { SessionView } from "../../http/console/Api.js"

/** What the keys of a repository's drafts begin with in the browser's storage, however its root is written. */
export const draftPrefix = ({ api, branch, repo, root }: SessionView): string =>
  `chainstore.draft ${JSON.stringify([api, repo, branch, trim(root, /\//)])} `

/** What the keys of all drafts of a repository begin with, whatever their branch and root. */
export const repositoryDraftPrefix = ({ api, repo }: SessionView): string =>
  `chainstore.draft ${JSON.stringify([api, repo]).slice(0, -1)},`

/** Where a repository's drafts lie, by collection and id. */
export const draftKeys = (drafts: string): ReadonlyArray<string> => {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(drafts))
      .sort()
  } catch {
    return []
  }
}

/** The other tabs hear of a change from the browser, and this one from us. */
export const notifyTabs = () => dispatchEvent(new Event("storage"))

/** Deletes drafts, also those that cannot be read. */
export const deleteDrafts = (drafts: string): void => {
  for (const key of draftKeys(drafts)) localStorage.removeItem(key)
  notifyTabs()
}

/** How many drafts there are, in this tab and all others. */
export const useDraftCount = (drafts: string): number => {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const look = () => setCount(draftKeys(drafts).length)
    look()
    addEventListener("storage", look)
    return () => removeEventListener("storage", look)
  }, [drafts])
  return count
}
