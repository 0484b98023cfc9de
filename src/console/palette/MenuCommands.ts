import { densities } from "../results/ColumnsMenu.js"
import { exportFormats } from "../results/Export.js"
import { queryLanguages } from "../results/QueryCode.js"

/** An action inside a menu, which is drawn only while the menu is open. */
export interface MenuCommand {
  readonly name: string
  readonly run: () => void
}

/** Frames for which the contents of a menu may load. */
const maxFrames = 600

/** Opens a menu, activates a control in it and closes it again. */
const runInMenu = (opener: HTMLElement, selector: string) => () => {
  opener.focus()
  if (opener.getAttribute("aria-expanded") !== "true") opener.click()
  const activate = (frames: number) => {
    const control = opener.parentElement?.querySelector<HTMLElement>(selector)
    if (control != null) {
      control.click()
      if (opener.getAttribute("aria-expanded") === "true") opener.click()
      opener.focus()
    } else if (frames > 0) requestAnimationFrame(() => activate(frames - 1))
  }
  requestAnimationFrame(() => activate(maxFrames))
}

const exports = [
  ...exportFormats.flatMap((format) => [`Copy as ${format}`, `Save as ${format}`]),
  "Save as xlsx",
  ...queryLanguages.map((language) => `Copy the query as ${language}`)
].map((name) => ["#export", name, `[aria-label="${name}"]`] as const)

const rowHeights = densities.map(
  (density) => ["#columns", `Row height: ${density}`, `[name="density"][value="${density}"]`] as const
)

const createIndex = ["#explain.indexable", "Create an index", ".menu-panel button"] as const

/** A command for every action in the menus that can be opened. */
export const menuCommands = (): ReadonlyArray<MenuCommand> =>
  [...rowHeights, ...exports, createIndex].flatMap(([menu, name, selector]) => {
    const opener = document.querySelector<HTMLElement>(menu)
    return opener === null || opener.matches(":disabled, [inert] *")
      ? []
      : [{ name, run: runInMenu(opener, selector) }]
  })
