import { useEffect, useRef, useState } from "preact/hooks"
import { alarm } from "../components/Announcer.js"
import * as Drafts from "../drafts/Drafts.js"

const atOnce = "Another tab changed this draft at the same time."

/** What the editor knows of its draft. */
export interface DraftState {
  readonly draft: Drafts.Draft | undefined
  /** What another tab did to the draft while this one changed it, in a sentence. */
  readonly elsewhere: string | undefined
  /** Whether the browser has not kept what was saved last: it is in this page alone. */
  readonly unkept: boolean
  /** Saves, and tells whether the browser has kept it. */
  readonly save: (edit: Drafts.Unsaved) => boolean
  /** Saves what is unkept once more, and tells whether everything is kept. */
  readonly saveAgain: () => boolean
  /** Forgets what is unkept. */
  readonly giveUp: () => void
  /** Forgets the draft, and tells whether it is gone: what another tab has made of it stays, and is told by `other`. */
  readonly discard: () => boolean
  /** Overwrites what another tab has made of it. */
  readonly insist: () => void
}

/** What an editor does when another tab changes its draft. */
export interface DraftFollower {
  /** Saves what is being typed: what another tab keeps does not replace it. */
  readonly flush: () => void
  /** Shows what another tab has made of the draft, where this tab loses nothing by it. */
  readonly other: (draft: Drafts.Draft | undefined) => void
}

/** The draft of one document. */
export const useDraft = (
  drafts: string,
  place: { readonly collection: string; readonly id: string },
  follower: DraftFollower
): DraftState => {
  const [draft, setDraft] = useState(() => Drafts.read(drafts, place))
  const [elsewhere, setElsewhere] = useState<string | undefined>(undefined)
  const seen = useRef(draft?.stamp)
  const known = useRef(draft)
  const refused = useRef<Drafts.Unsaved | undefined>(undefined)
  const [unkept, setUnkept] = useState(false)
  // Our own changes are told in this tab, too.
  const isOurs = useRef(false)
  const hear = useRef(follower)
  hear.current = follower

  const refuse = (edit: Drafts.Unsaved | undefined, other?: string) => {
    refused.current = edit
    setUnkept(edit !== undefined)
    setElsewhere(other)
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
      if (Drafts.stampOf(drafts, place) === seen.current) return
      hear.current.flush()
      if (refused.current !== undefined) return
      const found = Drafts.read(drafts, place)
      if (found?.stamp === known.current?.stamp) return
      if (Drafts.isLost(known.current, found)) {
        alarm(atOnce)
        return refuse(known.current, atOnce)
      }
      keep(found)
      hear.current.other(found)
    }
    addEventListener("storage", follow)
    return () => removeEventListener("storage", follow)
  }, [drafts, place.collection, place.id])

  const save = (edit: Drafts.Unsaved): boolean => {
    isOurs.current = true
    const saved = Drafts.save(drafts, edit, seen.current)
    isOurs.current = false
    if (saved === "full") {
      if (refused.current === undefined)
        alarm("The browser has no room for this draft. Do not close this page.")
      refuse(edit)
    } else if (saved === "elsewhere") {
      const left = Drafts.stampOf(drafts, place)
      const other =
        left === undefined
          ? "Another tab discarded or published this draft meanwhile."
          : Drafts.read(drafts, place) === undefined
            ? "The browser has a draft of this document that cannot be read."
            : atOnce
      if (other !== elsewhere) alarm(other)
      refuse(edit, other)
    } else {
      keep(saved.draft)
    }
    return refused.current === undefined
  }

  return {
    draft,
    elsewhere,
    unkept,
    save,
    saveAgain: () => refused.current === undefined || save(refused.current),
    giveUp: () => refuse(undefined),
    discard: () => {
      const old = known.current
      keep(undefined)
      isOurs.current = true
      if (old !== undefined) Drafts.discard(drafts, old)
      isOurs.current = false
      const left = Drafts.read(drafts, place)
      if (left === undefined) return true
      keep(left)
      hear.current.other(left)
      return false
    },
    insist: () => {
      const mine = refused.current
      seen.current = Drafts.stampOf(drafts, place)
      if (mine !== undefined) save(mine)
    }
  }
}
