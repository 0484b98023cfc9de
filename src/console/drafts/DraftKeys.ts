import { useEffect, useState } from "preact/hooks"
import { trim } from "../../domain/text/TrimText.js"
import type { SessionView } from "../../http/console/Api.js"

/** The prefix of the storage keys of a repository's drafts, with a normalized root. Hosts ignore the case of its name. */
export const draftPrefix = ({ api, branch, repo, root }: SessionView): string =>
  `chainstore.draft ${JSON.stringify([api, repo.toLowerCase(), branch, trim(root, /\//)])} `

/** The prefix of the storage keys of all drafts of a repository, on any branch and root. */
export const repositoryDraftPrefix = ({ api, repo }: SessionView): string =>
  `chainstore.draft ${JSON.stringify([api, repo.toLowerCase()]).slice(0, -1)},`

/** The storage keys of drafts, sorted. */
export const draftKeys = (drafts: string): ReadonlyArray<string> => {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(drafts))
      .sort()
  } catch {
    return []
  }
}

/** Dispatches a storage event in this tab: the browser dispatches it only in other tabs. */
export const notifyTabs = () => dispatchEvent(new Event("storage"))

/** Deletes all drafts, also unreadable ones. */
export const deleteDrafts = (drafts: string): void => {
  for (const key of draftKeys(drafts)) localStorage.removeItem(key)
  notifyTabs()
}

/** The number of drafts, updated when any tab changes them. */
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
