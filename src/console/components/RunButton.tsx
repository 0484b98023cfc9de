import type { ComponentChildren } from "preact"
import { Icon, type IconName } from "./Icon.js"

/** A button that starts a request and is disabled while it runs. */
export const RunButton = (props: {
  readonly running: boolean
  readonly children: ComponentChildren
  readonly onClick?: () => void
  readonly kind?: "primary" | "plain" | "quiet"
  readonly type?: "submit" | "button"
  readonly icon?: IconName
  readonly disabled?: boolean
  readonly label?: string
  readonly id?: string
}) => (
  <button
    type={props.type ?? "button"}
    id={props.id}
    class={`button ${props.kind ?? "plain"}`}
    disabled={props.running || props.disabled === true}
    aria-busy={props.running}
    aria-label={props.label}
    onClick={props.onClick}
  >
    {props.icon === undefined ? null : <Icon name={props.icon} />}
    {props.children}
  </button>
)
