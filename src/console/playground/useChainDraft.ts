import { useEffect, useRef, useState } from "preact/hooks"
import { announce } from "../components/Announcer.js"
import { type ChainDraft, fromBody } from "./ChainDraft.js"
import { examples } from "./Examples.js"
import { fromHash, maxAddress, toHash } from "./ShareLink.js"
import { History } from "./UndoHistory.js"

const initial = () => fromHash(location.hash) ?? fromBody("own", examples[0]!.body)

const keep = (draft: ChainDraft) => {
  const hash = toHash(draft)
  try {
    history.replaceState(null, "", hash.length > maxAddress ? location.pathname : hash)
  } catch {
    // Browsers limit the number of address changes in half a minute.
  }
}

/** The draft, its address, and its undo history. */
export const useChainDraft = () => {
  const [draft, setDraft] = useState<ChainDraft>(initial)
  const past = useRef(new History<ChainDraft>(200))
  // Counts the replacements of the whole chain.
  const [generation, setGeneration] = useState(0)
  // Several changes can occur before the next render.
  const now = useRef(draft)

  const set = (next: ChainDraft) => {
    now.current = next
    setDraft(next)
    keep(next)
  }

  const replace = (next: ChainDraft) => {
    past.current.record(now.current)
    setGeneration((before) => before + 1)
    set(next)
  }

  /** Changes a part. Consecutive changes with the same `typing` are undone together. */
  const edit = (part: Partial<ChainDraft>, typing?: string) => {
    past.current.record(now.current, typing)
    set({ ...now.current, ...part })
  }

  /** Shows another chain. The browser's back button returns to the previous one. */
  const load = (next: ChainDraft) => {
    past.current.record(now.current)
    history.pushState(null, "", location.href)
    setGeneration((before) => before + 1)
    set(next)
  }

  const undo = () => step(past.current.undo(now.current), "Undone.", "There is nothing to undo.")
  const redo = () => step(past.current.redo(now.current), "Done again.", "There is nothing to redo.")
  const step = (next: ChainDraft | undefined, done: string, nothing: string) => {
    if (next !== undefined) set(next)
    announce(next === undefined ? nothing : done)
  }

  useEffect(() => {
    const follow = () => {
      past.current.record(now.current)
      now.current = initial()
      setGeneration((before) => before + 1)
      setDraft(now.current)
    }
    addEventListener("popstate", follow)
    return () => removeEventListener("popstate", follow)
  }, [])

  return {
    draft,
    generation,
    edit,
    replace,
    load,
    undo,
    redo,
    canUndo: past.current.canUndo,
    canRedo: past.current.canRedo
  }
}
