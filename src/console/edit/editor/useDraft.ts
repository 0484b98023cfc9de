import { useEffect, useRef, useState } from "preact/hooks"
import { alarm } from "../../components/Announcer.js"
import * as Drafts from "../../drafts/Drafts.js"

const atOnce = "This draft was changed in another tab at the same time."

/** The draft of an edited document. */
export interface DraftState {
  readonly draft: Drafts.Draft | undefined
  /** A sentence about a change by another tab that conflicts with this tab's change. */
  readonly conflict: string | undefined
  /** Whether the last save failed, so that the change exists only in this page. */
  readonly isUnsaved: boolean
  /** Saves and returns whether the browser stored it. */
  readonly save: (edit: Drafts.DraftContent) => boolean
  /** Retries a failed save and returns whether everything is stored. */
  readonly saveAgain: () => boolean
  /** Drops the unsaved change. */
  readonly abandon: () => void
  /** Deletes the draft and returns whether it is gone. A draft that another tab changed is kept and passed to `onOtherTab`. */
  readonly discard: () => boolean
  /** Overwrites the other tab's change. */
  readonly overwrite: () => void
}

/** Callbacks for changes by another tab. */
export interface DraftFollower {
  /** Saves pending input, so that the other tab's change does not replace it. */
  readonly flush: () => void
  /** Shows the other tab's draft. Called only if this tab loses nothing by it. */
  readonly onOtherTab: (draft: Drafts.Draft | undefined) => void
}

/** Reads and saves the draft of one document, and follows changes by other tabs. */
export const useDraft = (
  drafts: string,
  documentKey: { readonly collection: string; readonly id: string },
  follower: DraftFollower
): DraftState => {
  const [draft, setDraft] = useState(() => Drafts.read(drafts, documentKey))
  const [conflict, setConflict] = useState<string | undefined>(undefined)
  const seen = useRef(draft?.stamp)
  const known = useRef(draft)
  const refused = useRef<Drafts.DraftContent | undefined>(undefined)
  const [isUnsaved, setUnsaved] = useState(false)
  // This tab gets a storage event for its own changes too.
  const isOurs = useRef(false)
  const hear = useRef(follower)
  hear.current = follower

  const refuse = (edit: Drafts.DraftContent | undefined, other?: string) => {
    refused.current = edit
    setUnsaved(edit !== undefined)
    setConflict(other)
  }

  const keep = (next: Drafts.Draft | undefined) => {
    known.current = next
    seen.current = next?.stamp
    setDraft(next)
    refuse(undefined)
  }

  useEffect(() => {
    const follow = () => {
      if (isOurs.current || refused.current !== undefined) return
      if (Drafts.stampOf(drafts, documentKey) === seen.current) return
      hear.current.flush()
      if (refused.current !== undefined) return
      const found = Drafts.read(drafts, documentKey)
      if (found?.stamp === known.current?.stamp) return
      if (Drafts.isOverwritten(known.current, found)) {
        alarm(atOnce)
        return refuse(known.current, atOnce)
      }
      keep(found)
      hear.current.onOtherTab(found)
    }
    addEventListener("storage", follow)
    return () => removeEventListener("storage", follow)
  }, [drafts, documentKey.collection, documentKey.id])

  const save = (edit: Drafts.DraftContent): boolean => {
    isOurs.current = true
    const saved = Drafts.save(drafts, edit, seen.current)
    isOurs.current = false
    if (saved === "full") {
      if (refused.current === undefined)
        alarm("The browser's storage is full and this draft is not saved. Do not close this page.")
      refuse(edit)
    } else if (saved === "elsewhere") {
      const left = Drafts.stampOf(drafts, documentKey)
      const other =
        left === undefined
          ? "This draft was discarded or published in another tab."
          : Drafts.read(drafts, documentKey) === undefined
            ? "The browser's stored draft of this document cannot be read."
            : atOnce
      if (other !== conflict) alarm(other)
      refuse(edit, other)
    } else {
      keep(saved.draft)
    }
    return refused.current === undefined
  }

  return {
    draft,
    conflict,
    isUnsaved,
    save,
    saveAgain: () => refused.current === undefined || save(refused.current),
    abandon: () => refuse(undefined),
    discard: () => {
      const old = known.current
      keep(undefined)
      isOurs.current = true
      if (old !== undefined) Drafts.discard(drafts, old)
      isOurs.current = false
      const left = Drafts.read(drafts, documentKey)
      if (left === undefined) return true
      keep(left)
      hear.current.onOtherTab(left)
      return false
    },
    overwrite: () => {
      const mine = refused.current
      seen.current = Drafts.stampOf(drafts, documentKey)
      if (mine !== undefined) save(mine)
    }
  }
}
