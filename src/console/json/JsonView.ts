import { standardKeymap } from "@codemirror/commands"
import { jsonLanguage } from "@codemirror/lang-json"
import { bidiIsolates, forceParsing } from "@codemirror/language"
import { openSearchPanel, SearchQuery, search, setSearchQuery } from "@codemirror/search"
import { EditorState } from "@codemirror/state"
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap
} from "@codemirror/view"
import { hangingIndent } from "./HangingIndent.js"
import { foldEvery, folding, unfoldEvery } from "./JsonFolding.js"
import { pathAt } from "./JsonPath.js"
import { theme } from "./JsonTheme.js"

type Path = ReadonlyArray<string | number>

/** A read-only view of a JSON text. */
export interface JsonView {
  readonly foldAll: () => void
  readonly unfoldAll: () => void
  /** Highlights every occurrence of a text and returns their number. */
  readonly find: (text: string) => number
  /** Moves to an occurrence of the searched text, unfolds the lines around it, and announces the path of its line. */
  readonly goTo: (occurrence: number) => Path
  readonly close: () => void
}

export interface JsonViewOptions {
  readonly text: string
  /** The accessible name. */
  readonly label: string
  readonly onPath: (path: Path) => void
  readonly onSearch: () => void
  readonly onAnnounce: (text: string) => void
}

/** Invisible and directional characters that the editor does not mark by itself. Joiners are not marked: words and emoji need them. */
const invisible = /[\u180e\u202a-\u202c\u2060-\u2064\u2068]/

/**
 * Shows a text inside an element. In a shadow tree the editor uses adopted style sheets, which the content security
 * policy allows without inline styles.
 */
export const open = (host: HTMLElement, options: JsonViewOptions): JsonView => {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" })
  let found: ReadonlyArray<{ readonly from: number; readonly to: number }> = []
  const toSearch = () => {
    options.onSearch()
    return true
  }
  const view = new EditorView({
    parent: root as unknown as Element,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ "aria-label": options.label, inputmode: "none", tabindex: "0" }),
        // A read-only editor reverts typed text after it is drawn. Preventing the event avoids the flicker.
        EditorView.domEventHandlers({
          beforeinput: (event) => {
            event.preventDefault()
            return true
          }
        }),
        EditorView.lineWrapping,
        hangingIndent,
        EditorView.updateListener.of((update) => {
          if (update.selectionSet) options.onPath(pathAt(update.state, update.state.selection.main.head))
          for (const { effects } of update.transactions) {
            for (const effect of effects) if (effect.is(EditorView.announce)) options.onAnnounce(effect.value)
          }
        }),
        jsonLanguage,
        bidiIsolates({ alwaysIsolate: true }),
        highlightSpecialChars({ addSpecialChars: invisible }),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        folding,
        // The highlighter needs a panel. The search field is outside of the editor.
        search({ createPanel: () => ({ dom: document.createElement("div") }) }),
        keymap.of([{ key: "Mod-f", run: toSearch }, ...standardKeymap]),
        theme
      ]
    })
  })
  openSearchPanel(view)
  forceParsing(view, view.state.doc.length, 100)
  // The page has one live region for announcements.
  view.dom.querySelector(".cm-announced")?.removeAttribute("aria-live")
  return {
    foldAll: () => foldEvery(view),
    unfoldAll: () => unfoldEvery(view),
    find: (text) => {
      const query = new SearchQuery({ search: text, literal: true })
      found = query.valid ? [...{ [Symbol.iterator]: () => query.getCursor(view.state) }] : []
      view.dispatch({ effects: setSearchQuery.of(query) })
      return found.length
    },
    goTo: (occurrence) => {
      const { from, to } = found[occurrence]!
      view.dispatch({
        selection: { anchor: from, head: to },
        effects: EditorView.scrollIntoView(from, { y: "center" })
      })
      return pathAt(view.state, from)
    },
    close: () => view.destroy()
  }
}
