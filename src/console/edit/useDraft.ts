import { useEffect, useRef, useState } from "preact/hooks"
import { alarm } from "../Announcer.js"
import * as Drafts from "../drafts/Drafts.js"

/** What the editor knows of its draft. */
export interface DraftState {
  readonly draft: Drafts.Draft | undefined
  /** Whether another tab changed the draft while this one did. */
  readonly elsewhere: Drafts.Draft | undefined
  /** Whether the browser has not kept what was saved last: it is in this page alone. */
  readonly unkept: boolean
  /** Saves, and tells whether the browser has kept it. */
  readonly save: (edit: Omit<Drafts.Draft, "stamp">) => boolean
  /** Saves what is unkept once more, and tells whether everything is kept. */
  readonly saveAgain: () => boolean
  /** Forgets what is unkept. */
  readonly giveUp: () => void
  readonly discard: () => void
  /** Overwrites what another tab has made of it. */
  readonly insist: () => void
}

/** The draft of one document. What other tabs make of it is told by `onOther`, where this tab has lost nothing by it. */
export const useDraft = (
  drafts: string,
  place: { readonly collection: string; readonly id: string },
  onOther: (draft: Drafts.Draft | undefined) => void
): DraftState => {
  const [draft, setDraft] = useState(() => Drafts.read(drafts, place))
  const [elsewhere, setElsewhere] = useState<Drafts.Draft | undefined>(undefined)
  const known = useRef(draft)
  const refused = useRef<Omit<Drafts.Draft, "stamp"> | undefined>(undefined)
  const [unkept, setUnkept] = useState(false)
  // Our own changes are told in this tab, too.
  const isOurs = useRef(false)
  const hear = useRef(onOther)
  hear.current = onOther

  const refuse = (edit: Omit<Drafts.Draft, "stamp"> | undefined, other?: Drafts.Draft) => {
    refused.current = edit
    setUnkept(edit !== undefined)
    setElsewhere(other)
  }

  const keep = (next: Drafts.Draft | undefined) => {
    known.current = next
    setDraft(next)
    refuse(undefined)
  }

  useEffect(() => {
    const follow = () => {
      if (isOurs.current) return
      const found = Drafts.read(drafts, place)
      if (found?.stamp === known.current?.stamp || refused.current !== undefined) return
      keep(found)
      hear.current(found)
    }
    addEventListener("storage", follow)
    return () => removeEventListener("storage", follow)
  }, [drafts, place.collection, place.id])

  const save = (edit: Omit<Drafts.Draft, "stamp">): boolean => {
    isOurs.current = true
    const saved = Drafts.save(drafts, edit, known.current?.stamp)
    isOurs.current = false
    if (saved === "full") {
      if (refused.current === undefined)
        alarm("The browser has no room for this draft. Do not close this page.")
      refuse(edit)
    } else if (saved === "elsewhere") {
      refuse(edit, Drafts.read(drafts, place))
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
      if (old !== undefined) Drafts.discard(drafts, old)
    },
    insist: () => {
      const mine = refused.current
      known.current = Drafts.read(drafts, place)
      if (mine !== undefined) save(mine)
    }
  }
}
