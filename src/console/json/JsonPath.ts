import { ensureSyntaxTree, syntaxTree } from "@codemirror/language"
import type { EditorState } from "@codemirror/state"
import type { SyntaxNode } from "@lezer/common"

/** Milliseconds after which parsing a large document stops. */
const parseTimeout = 2000

/** The syntax tree up to a position. */
export const treeTo = (state: EditorState, position: number) =>
  ensureSyntaxTree(state, position, parseTimeout) ?? syntaxTree(state)

const values = new Set(["Object", "Array", "String", "Number", "True", "False", "Null"])

/** The number of values of an object or a list, not counting nested ones. */
export const sizeOf = (container: SyntaxNode): number => {
  let size = 0
  for (let at = container.firstChild; at !== null; at = at.nextSibling) {
    if (at.name === "Property" || values.has(at.name)) size++
  }
  return size
}

const placeInList = (element: SyntaxNode): number => {
  let place = 0
  for (let at = element.prevSibling; at !== null; at = at.prevSibling) if (values.has(at.name)) place++
  return place
}

/** The path of the value on the line of a position. A document is printed with one value per line. */
export const pathAt = (state: EditorState, position: number): ReadonlyArray<string | number> => {
  const line = state.doc.lineAt(position)
  const start = line.from + line.text.search(/\S|$/)
  const path: Array<string | number> = []
  let at: SyntaxNode | null = treeTo(state, line.to).resolveInner(start, 1)
  for (; at !== null; at = at.parent) {
    const name = at.name === "Property" ? at.getChild("PropertyName") : null
    if (name !== null) path.unshift(JSON.parse(state.sliceDoc(name.from, name.to)) as string)
    else if (values.has(at.name) && at.parent?.name === "Array") path.unshift(placeInList(at))
  }
  return path
}
