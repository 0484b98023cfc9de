import { HighlightStyle, syntaxHighlighting } from "@codemirror/language"
import type { Extension } from "@codemirror/state"
import { EditorView } from "@codemirror/view"
import { tags } from "@lezer/highlight"

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--ink)" },
  { tag: tags.string, color: "var(--string)" },
  { tag: [tags.number, tags.bool], color: "var(--number)" },
  { tag: [tags.null, tags.separator, tags.brace, tags.squareBracket], color: "var(--ink-soft)" }
])

const lineHeight = "max(1.8em, 24px)"

/** The page's colours: CSS custom properties are inherited into the shadow tree. */
export const theme: Extension = [
  syntaxHighlighting(colours),
  EditorView.theme({
    "&": { height: "100%", color: "var(--ink)", background: "var(--paper)", borderRadius: "10px" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "0.87rem", lineHeight, borderRadius: "10px" },
    ".cm-content": { padding: "6px 0", caretColor: "var(--ink)" },
    ".cm-line": { padding: "0 12px 0 0" },
    ".cm-activeLine": { backgroundColor: "var(--accent-wash)" },
    ".cm-gutters": { border: "0", background: "var(--paper)", color: "var(--ink-soft)" },
    ".cm-activeLineGutter": { background: "var(--accent-wash)" },
    ".cm-foldGutter .cm-gutterElement": {
      display: "flex",
      alignItems: "flex-start",
      justifyContent: "center",
      width: "24px",
      padding: "0",
      cursor: "pointer"
    },
    ".fold": { display: "grid", placeItems: "center", width: "24px", height: lineHeight },
    ".fold::before": {
      content: '""',
      width: "6px",
      height: "6px",
      border: "solid currentColor",
      borderWidth: "0 1.6px 1.6px 0",
      transform: "rotate(-45deg)"
    },
    ".fold.open::before": { transform: "translateY(-2px) rotate(45deg)" },
    ".cm-foldGutter .cm-gutterElement:hover": { color: "var(--accent)" },
    ".cm-foldPlaceholder": {
      display: "inline-block",
      minWidth: "24px",
      textIndent: "0",
      margin: "0 4px",
      padding: "0 8px",
      border: "1px solid var(--line)",
      borderRadius: "99px",
      background: "var(--sunken)",
      color: "var(--ink-soft)",
      lineHeight: "22px",
      cursor: "pointer"
    },
    ".cm-foldPlaceholder:hover": { color: "var(--accent)", borderColor: "var(--accent)" },
    ".cm-specialChar": {
      padding: "0 3px",
      borderRadius: "3px",
      background: "var(--bad-wash)",
      color: "var(--bad)"
    },
    ".cm-searchMatch": {
      borderRadius: "2px",
      background: "var(--warn-wash)",
      outline: "1px solid var(--warn)"
    },
    ".cm-searchMatch-selected": { background: "var(--warn)", color: "var(--surface)" },
    ".cm-searchMatch-selected span": { color: "inherit" },
    // Without a box the editor measures it at the top of the page and scrolls to wrong positions.
    ".cm-panels": { height: "0", border: "0", overflow: "hidden", visibility: "hidden" },
    "@media (forced-colors: active)": {
      ".cm-activeLine, .cm-foldPlaceholder, .cm-searchMatch": { outline: "1px solid" },
      ".cm-searchMatch-selected": {
        forcedColorAdjust: "none",
        background: "Highlight",
        color: "HighlightText"
      }
    }
  })
]
