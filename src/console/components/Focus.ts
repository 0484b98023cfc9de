/** The focused element, also inside a shadow tree. */
export const focusedElement = (): Element | null => {
  let found = document.activeElement
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement
  return found
}

const isFocusLost = () => document.activeElement === null || document.activeElement === document.body

/** Returns the focus to an element, unless another element has it. */
export const restoreFocus = (to: Element | null): void => {
  if (isFocusLost() && to instanceof HTMLElement && to.isConnected) to.focus()
}

/** Moves the focus from one element to another, unless a third element has it. */
export const moveFocus = (from: Element | null, to: HTMLElement | null): void => {
  if (isFocusLost() || document.activeElement === from) to?.focus()
}
