import type { RefObject } from "preact"
import { useEffect } from "preact/hooks"

/** What has the focus, also in a shadow tree. */
export const focusedElement = (): Element | null => {
  let found = document.activeElement
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement
  return found
}

const isFocusLost = () => document.activeElement === null || document.activeElement === document.body

/** Gives the focus back to what had it, unless it has gone elsewhere since. */
export const restoreFocus = (to: Element | null): void => {
  if (isFocusLost() && to instanceof HTMLElement && to.isConnected) to.focus()
}

/** Hands the focus on from what had it, unless it has gone elsewhere since. */
export const moveFocus = (from: Element | null, to: HTMLElement | null): void => {
  if (isFocusLost() || document.activeElement === from) to?.focus()
}

/** Shows a dialog as long as its component lives; then the focus goes back to the opener. */
export const useModal = (dialog: RefObject<HTMLDialogElement | null>, opener: () => Element | null): void => {
  useEffect(() => {
    const element = dialog.current
    const before = opener()
    element?.showModal()
    return () => {
      element?.close()
      restoreFocus(before?.isConnected === true ? before : opener())
    }
  }, [])
}
