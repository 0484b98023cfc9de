import type { ComponentChildren, RefObject } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { moveFocus } from "./Focus.js"
import { Icon } from "./Icon.js"
import { focusWhenRequested } from "./LazyComponent.js"

/**
 * The panel next to the table. Its heading gets the focus, unless the panel loaded late and the focus has moved
 * meanwhile. Escape closes it.
 */
export const Panel = (props: {
  readonly label: string
  readonly collection: string
  readonly title: string
  /** The name of the content, for the label of the close button. */
  readonly closes: string
  /** Buttons beside the one that closes the panel. */
  readonly actions?: ComponentChildren
  readonly heading?: RefObject<HTMLHeadingElement | null>
  readonly onClose: () => void
  readonly children: ComponentChildren
}) => {
  const own = useRef<HTMLHeadingElement>(null)
  const heading = props.heading ?? own
  useLayoutEffect(() => {
    const from = focusWhenRequested()
    if (from === undefined) heading.current?.focus()
    else moveFocus(from, heading.current)
  }, [props.label])
  return (
    <aside
      class="panel"
      aria-label={props.label}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return
        if (event.target instanceof Element && event.target.closest("dialog") !== null) return
        event.stopPropagation()
        props.onClose()
      }}
    >
      <header class="panel-head">
        <div class="panel-title">
          <p class="eyebrow">
            <bdi>{props.collection}</bdi>
          </p>
          <h2 ref={heading} tabIndex={-1}>
            <bdi>{props.title}</bdi>
          </h2>
        </div>
        <div class="together">
          {props.actions}
          <button
            type="button"
            class="button icon-only quiet"
            aria-label={`Close the ${props.closes}`}
            onClick={props.onClose}
          >
            <Icon name="close" />
          </button>
        </div>
      </header>
      {props.children}
    </aside>
  )
}
