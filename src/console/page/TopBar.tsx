import type { ComponentChildren } from "preact"
import { Icon } from "../components/Icon.js"
import type { Settings } from "./Settings.js"

/** The next theme, when the button is pressed. */
export const nextTheme = { system: "light", light: "dark", dark: "system" } as const
const names = { system: "system", light: "light", dark: "dark" } as const
const icons = { system: "system", light: "sun", dark: "moon" } as const

export const ThemeButton = (props: {
  readonly theme: Settings["theme"]
  readonly onTheme: (theme: Settings["theme"]) => void
}) => (
  <button
    type="button"
    class="button icon-only quiet"
    id="theme"
    aria-label={`Theme: ${names[props.theme]}. Change to ${names[nextTheme[props.theme]]}`}
    title={`Theme: ${names[props.theme]}`}
    onClick={() => props.onTheme(nextTheme[props.theme])}
  >
    <Icon name={icons[props.theme]} />
  </button>
)

export const TopBar = (props: { readonly title: string; readonly children?: ComponentChildren }) => (
  <header class="top">
    <p class="brand">
      <Icon name="chain" />
      <span>Chainstore</span>
      <span class="brand-part">{props.title}</span>
    </p>
    {props.children}
  </header>
)
