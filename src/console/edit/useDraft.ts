import { useEffect, useRef, useState } from "preact/hooks"
import { alarm } from "../Announcer.js"
import * as Drafts from "../drafts/Drafts.js"

/** What the editor knows of its draft. */
export interface DraftState {
  readonly draft: Drafts.Draft | undefined
  /** Whether another tab changed the draft while this one did. */
  readonly elsewhere: Drafts.Draft | undefined
  readonly save: (edit: Omit<Drafts.Draft, "stamp">) => void
  readonly discard: () => void
  /** Whether the browser has not kept what was saved last: it is in this page alone. */
  readonly isUnkept: () => boolean
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
  // Our own changes are told in this tab, too.
  const isOurs = useRef(false)
  const hear = useRef(onOther)
  hear.current = onOther

  const keep = (next: Drafts.Draft | undefined) => {
    known.current = next
    refused.current = undefined
    setDraft(next)
    setElsewhere(undefined)
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

  const save = (edit: Omit<Drafts.Draft, "stamp">) => {
    isOurs.current = true
    const saved = Drafts.save(drafts, edit, known.current?.stamp)
    isOurs.current = false
    if (saved === "full") {
      refused.current = edit
      alarm("The browser has no room for this draft: publish or discard others. Do not close this page.")
    } else if (saved === "elsewhere") {
      refused.current = edit
      setElsewhere(Drafts.read(drafts, place))
    } else {
      keep(saved.draft)
    }
  }

  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (refused.current !== undefined) event.preventDefault()
    }
    addEventListener("beforeunload", ask)
    return () => removeEventListener("beforeunload", ask)
  }, [])

  return {
    draft,
    elsewhere,
    save,
    isUnkept: () => refused.current !== undefined,
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
