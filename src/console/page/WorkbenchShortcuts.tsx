import type { ComponentProps } from "preact"
import { ShortcutsDialog } from "./ShortcutsDialog.js"

export const shortcuts = [
  { keys: "Ctrl+k", what: "Search actions, collections and rows" },
  { keys: "?", what: "Show this list" },
  { keys: "/", what: "Go to the filter" },
  { keys: "r", what: "Run the query again" },
  { keys: "g", what: "Go to the results" },
  { keys: "c", what: "Choose columns" },
  { keys: "e", what: "Export" },
  { keys: "h", what: "History of the open document, or commits of the collection" },
  { keys: "j", what: "Next row or document" },
  { keys: "k", what: "Previous row or document" },
  { keys: "t", what: "Change the theme" },
  { keys: "o", what: "In a cell: open its document" },
  { keys: "x", what: "In a row: select or deselect it; Shift+X selects a range" },
  { keys: "f", what: "In a cell or column header: filter by it (also right-click or the menu key)" },
  {
    keys: "Shift+Enter",
    what: "In a column header: add it to the sort (also Shift+click)"
  },
  { keys: "p", what: "In a column header: pin or unpin the column" },
  { keys: "Shift+→", what: "In a column header: wider (Shift+←: narrower); with Ctrl: move it" },
  { keys: "↑ ↓ ← →", what: "Move between cells; Enter copies the value" },
  { keys: "Enter", what: "In a document: fold or unfold the line; Ctrl+F searches" },
  { keys: "Esc", what: "Cancel the query, or close the open panel" }
]

/** The keyboard shortcuts of the console. */
export const WorkbenchShortcuts = (props: Omit<ComponentProps<typeof ShortcutsDialog>, "shortcuts">) => (
  <ShortcutsDialog {...props} shortcuts={shortcuts} />
)
