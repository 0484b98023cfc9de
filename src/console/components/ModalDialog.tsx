import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { focusedElement, restoreFocus } from "./Focus.js"

/** Closes the dialog of a button that was pressed: the focus returns at once, and `onClose` follows. */
export const closeDialog = ({ currentTarget }: { readonly currentTarget: Element }): void =>
  currentTarget.closest("dialog")?.close()

/** A dialog that is open while it is mounted. Then the focus returns to its opener. */
export const ModalDialog = (props: {
  /** The id of its title. */
  readonly titleId?: string
  /** Its name, if it has no title. */
  readonly label?: string
  readonly class?: string
  /** Default: the focused element. */
  readonly opener?: () => Element | null
  /** Must unmount the dialog. Called also when something else, such as the browser's Back button, has unmounted it. */
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const opener = props.opener ?? focusedElement
  const latest = useRef(props)
  latest.current = props
  const isTold = useRef(false)
  const tellClosed = () => {
    if (isTold.current) return
    isTold.current = true
    latest.current.onClose()
  }
  // A layout effect, as another dialog may be open after the next paint.
  useLayoutEffect(() => tellClosed, [])
  useEffect(() => {
    const element = dialog.current
    const before = opener()
    element?.showModal()
    return () => {
      element?.close()
      restoreFocus(before?.isConnected === true ? before : opener())
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={`dialog ${props.class ?? ""}`}
      aria-label={props.label}
      aria-labelledby={props.titleId}
      onCancel={({ currentTarget }) => {
        // The browser would tell of it only after the next key, which would then find an open dialog.
        currentTarget.close()
        tellClosed()
      }}
      onClose={tellClosed}
    >
      {props.children}
    </dialog>
  )
}
