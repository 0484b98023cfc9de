import { codeFolding, foldEffect, foldGutter, foldKeymap, toggleFold, unfoldAll } from "@codemirror/language"
import type { EditorState, Extension } from "@codemirror/state"
import { type EditorView, keymap } from "@codemirror/view"
import { sizeOf, treeTo } from "./JsonPath.js"

const describe = (state: EditorState, { from }: { readonly from: number }): string => {
  const container = treeTo(state, from).resolve(from, -1).parent
  if (container === null) return "…"
  const size = sizeOf(container)
  const word = container.name === "Object" ? "field" : "item"
  return `${size} ${word}${size === 1 ? "" : "s"}`
}

const placeholder = (_view: EditorView, unfold: (event: Event) => void, size: string): HTMLElement => {
  const element = document.createElement("span")
  element.className = "cm-foldPlaceholder"
  element.textContent = size
  element.title = "Unfold"
  element.onclick = unfold
  return element
}

const marker = (open: boolean): HTMLElement => {
  const element = document.createElement("span")
  element.className = open ? "fold open" : "fold"
  element.title = open ? "Fold" : "Unfold"
  return element
}

/** Folds every object and list except the document itself. */
export const foldEvery = (view: EditorView): void => {
  const { state } = view
  const effects: Array<ReturnType<typeof foldEffect.of>> = []
  treeTo(state, state.doc.length).iterate({
    enter: ({ from, name, node, to }) => {
      if ((name === "Object" || name === "Array") && node.parent?.parent != null && to - from > 2) {
        effects.push(foldEffect.of({ from: from + 1, to: to - 1 }))
      }
    }
  })
  view.dispatch({ effects })
}

export const unfoldEvery = unfoldAll

/** Folding by the arrows next to the lines, by Enter or Space on a line, and by the usual editor keys. */
export const folding: Extension = [
  codeFolding({ preparePlaceholder: describe, placeholderDOM: placeholder }),
  foldGutter({ markerDOM: marker }),
  keymap.of([{ key: "Enter", run: toggleFold }, { key: "Space", run: toggleFold }, ...foldKeymap])
]
