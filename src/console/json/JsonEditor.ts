import { defaultKeymap, history, historyKeymap, isolateHistory, redo, undo } from "@codemirror/commands"
import { jsonLanguage } from "@codemirror/lang-json"
import { bidiIsolates, bracketMatching, indentOnInput, syntaxTree } from "@codemirror/language"
import { EditorState } from "@codemirror/state"
import { EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view"
import { hangingIndent } from "./HangingIndent.js"
import { theme } from "./JsonTheme.js"

/** An editor of a JSON text. */
export interface JsonEditor {
  readonly text: () => string
  /** Replaces the text. Undo restores it. */
  readonly setText: (text: string) => void
  /** Replaces a part of the text. Changes with `isTyped` that follow without a pause are one undo step, others are one each. */
  readonly change: (
    change: { readonly from: number; readonly to: number; readonly insert: string },
    isTyped: boolean
  ) => void
  readonly undo: () => void
  readonly redo: () => void
  readonly focus: () => void
  /** The number of the first line with a syntax error; undefined if there is none. */
  readonly brokenLine: () => number | undefined
  readonly goToLine: (line: number) => void
  /** Moves the cursor to a position. */
  readonly goTo: (at: number) => void
  readonly close: () => void
}

export interface JsonEditorOptions {
  readonly text: string
  /** The accessible name. */
  readonly label: string
  readonly onChange: (text: string) => void
  /** Ctrl+Enter. */
  readonly onDone: () => void
}

/** Edits a text inside an element, in a shadow tree as `JsonView` does. Tab moves the focus. */
export const open = (host: HTMLElement, options: JsonEditorOptions): JsonEditor => {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" })
  const done = () => {
    options.onDone()
    return true
  }
  const view = new EditorView({
    parent: root as unknown as Element,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
        // The page's shortcuts must not see typed keys: outside of the shadow tree the target is the host element.
        EditorView.domEventHandlers({
          keydown: (event) => {
            if (event.key !== "Escape") event.stopPropagation()
          },
          // When the browser replaces coloured text, it sets a style attribute, which the content security policy refuses.
          beforeinput: (event, editor) => {
            if (event.inputType !== "insertText" || event.data === null || event.isComposing) return false
            event.preventDefault()
            editor.dispatch(editor.state.replaceSelection(event.data), {
              userEvent: "input.type",
              scrollIntoView: true
            })
            return true
          }
        }),
        EditorView.lineWrapping,
        hangingIndent,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) options.onChange(update.state.doc.toString())
        }),
        jsonLanguage,
        bidiIsolates({ alwaysIsolate: true }),
        highlightSpecialChars(),
        highlightActiveLine(),
        lineNumbers(),
        bracketMatching(),
        indentOnInput(),
        history(),
        keymap.of([{ key: "Mod-Enter", run: done }, ...historyKeymap, ...defaultKeymap]),
        theme
      ]
    })
  })
  // The page has one live region for announcements.
  view.dom.querySelector(".cm-announced")?.removeAttribute("aria-live")
  const goTo = (at: number) => {
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) })
    view.focus()
  }
  return {
    text: () => view.state.doc.toString(),
    setText: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    change: (changes, isTyped) =>
      view.dispatch(
        isTyped
          ? { changes, userEvent: "input.type" }
          : { changes, userEvent: "input", annotations: isolateHistory.of("full") }
      ),
    undo: () => undo(view),
    redo: () => redo(view),
    focus: () => view.focus(),
    brokenLine: () => {
      let broken: number | undefined
      syntaxTree(view.state).iterate({
        enter: ({ from, type }) => {
          if (type.isError) broken ??= view.state.doc.lineAt(from).number
          return broken === undefined
        }
      })
      return broken
    },
    goToLine: (line) => goTo(view.state.doc.line(Math.min(line, view.state.doc.lines)).from),
    goTo,
    close: () => view.destroy()
  }
}
