import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef, useState } from "preact/hooks"
import { Icon, type IconName } from "./Icon.js"
import { useEscape } from "./useEscape.js"

/** A button that opens a menu. Escape or a click outside closes it. */
export const Menu = (props: {
  readonly label: string
  readonly icon?: IconName
  /** The class of the button. Default: a plain button. */
  readonly kind?: string
  readonly children: (close: () => void) => ComponentChildren
  readonly id?: string
  readonly disabled?: boolean
}) => {
  const [open, setOpen] = useState(false)
  const panel = useId()
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }
  useEscape(open, close)
  useEffect(() => {
    if (!open) return
    const outside = (event: Event) => {
      if (event.target instanceof Node && box.current?.contains(event.target) === false) setOpen(false)
    }
    addEventListener("pointerdown", outside)
    addEventListener("focusin", outside)
    return () => {
      removeEventListener("pointerdown", outside)
      removeEventListener("focusin", outside)
    }
  }, [open])
  return (
    <div class="menu" ref={box}>
      <button
        type="button"
        class={props.kind ?? "button plain"}
        ref={button}
        id={props.id}
        aria-expanded={open}
        aria-controls={open ? panel : undefined}
        disabled={props.disabled}
        onClick={() => setOpen(!open)}
      >
        {props.icon === undefined ? null : <Icon name={props.icon} />}
        {props.label}
      </button>
      {open ? (
        <section class="menu-panel" id={panel} aria-label={props.label}>
          {props.children(close)}
        </section>
      ) : null}
    </div>
  )
}
