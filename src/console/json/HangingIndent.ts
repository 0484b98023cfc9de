import { type EditorState, type Extension, RangeSetBuilder } from "@codemirror/state"
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate
} from "@codemirror/view"

/** The deepest indentation. More would leave no space for the text. */
const deepest = 24

const marks = Array.from({ length: deepest + 1 }, (_, depth) =>
  Decoration.line({ attributes: { style: `padding-left: ${depth + 2}ch; text-indent: -${depth + 2}ch` } })
)

const marksIn = (state: EditorState, ranges: EditorView["visibleRanges"]): DecorationSet => {
  const set = new RangeSetBuilder<Decoration>()
  for (const { from, to } of ranges) {
    for (let at = from; at <= to; ) {
      const line = state.doc.lineAt(at)
      set.add(line.from, line.from, marks[Math.min(line.text.search(/[^ ]|$/), deepest)]!)
      at = line.to + 1
    }
  }
  return set.finish()
}

/** Indents the continuation of a wrapped line by two characters. */
export const hangingIndent: Extension = ViewPlugin.fromClass(
  class {
    marks: DecorationSet
    constructor({ state, visibleRanges }: EditorView) {
      this.marks = marksIn(state, visibleRanges)
    }
    update({ docChanged, state, view, viewportChanged }: ViewUpdate) {
      if (docChanged || viewportChanged) this.marks = marksIn(state, view.visibleRanges)
    }
  },
  { decorations: ({ marks }) => marks }
)
