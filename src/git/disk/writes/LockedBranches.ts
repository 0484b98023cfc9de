import { branchRef } from "../../Names.js"
import type { RefStore } from "../refs/RefStore.js"

/** Milliseconds between two checks of a locked branch. */
const checkMillis = 10

/** The branches that another process has locked. A flush skips them, so that they do not delay all other branches. */
export const make = (refs: RefStore, checkAgain: () => void) => {
  /** When each branch was first found locked, as `performance.now()`. */
  const since = new Map<string, number>()
  let isCheckScheduled = false

  const isLocked = (branch: string): boolean => {
    try {
      return refs.isLocked(branchRef(branch))
    } catch {
      // The flush reports the error.
      return false
    }
  }

  return {
    /** Whether the flush of a branch has to wait: it is locked, and the timeout of locks has not passed. */
    hasToWait: (branch: string): boolean => {
      const now = performance.now()
      const first = since.get(branch) ?? now
      since.delete(branch)
      if (!isLocked(branch)) return false
      since.set(branch, first)
      return now - first < refs.timeout
    },

    /** Forgets a branch that is flushed now. Returns whether it has waited for the timeout. */
    flushing: (branch: string): boolean => since.delete(branch),

    /** Calls `checkAgain` soon, as nothing reports that a lock is released. */
    checkLater: (): void => {
      if (isCheckScheduled) return
      isCheckScheduled = true
      setTimeout(() => {
        isCheckScheduled = false
        checkAgain()
      }, checkMillis)
    }
  } as const
}
