import type { ComponentProps } from "preact"
import { ShortcutsDialog } from "./ShortcutsDialog.js"

export const shortcuts = [
  { keys: "Ctrl+k", what: "Find an action, a collection or a row" },
  { keys: "?", what: "This list" },
  { keys: "/", what: "Go to the filter" },
  { keys: "r", what: "Run the query again" },
  { keys: "g", what: "Go to the results" },
  { keys: "c", what: "Choose columns" },
  { keys: "e", what: "Export" },
  { keys: "h", what: "History of the open document, or commits of the collection" },
  { keys: "j", what: "Next row, or next document while one is open" },
  { keys: "k", what: "Previous row, or previous document" },
  { keys: "t", what: "Change the theme" },
  { keys: "o", what: "In a cell: open its document" },
  { keys: "x", what: "In a row: choose it, or let it go; Shift+X through all from the one before" },
  { keys: "f", what: "In a cell or on a header: filter by it; so does a right click or the menu key" },
  {
    keys: "Shift+Enter",
    what: "On a header: sort by it behind the columns that are sorted by; so does Shift and a click"
  },
  { keys: "p", what: "On a header: pin the column beside the ids, or let it go" },
  { keys: "Shift+→", what: "On a header: make the column wider; Shift+← narrower; with Ctrl, too, move it" },
  { keys: "↑ ↓ ← →", what: "Move between cells; Enter copies, or goes to the copy button of a long text" },
  { keys: "Enter", what: "In a document: fold or unfold the line; Ctrl+F searches in it" },
  { keys: "Esc", what: "Cancel the run, or close what is open" }
]

/** What the keys do beside the table. */
export const WorkbenchShortcuts = (props: Omit<ComponentProps<typeof ShortcutsDialog>, "shortcuts">) => (
  <ShortcutsDialog {...props} shortcuts={shortcuts} />
)
