export type Density = "comfortable" | "compact"

/** Settings that the browser stores between visits. They never contain a token. */
export interface Settings {
  readonly api?: string | undefined
  readonly repo?: string | undefined
  readonly branch?: string | undefined
  readonly root?: string | undefined
  readonly theme: "system" | "light" | "dark"
  readonly shortcuts: boolean
  /** The height of the rows of tables. */
  readonly density: Density
}

const key = "chainstore.console"
const initial: Settings = { theme: "system", shortcuts: true, density: "comfortable" }

const text = (value: unknown) => (typeof value === "string" ? value : undefined)

export const load = (): Settings => {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? "{}") as Readonly<Record<string, unknown>>
    const theme = stored["theme"]
    return {
      api: text(stored["api"]),
      repo: text(stored["repo"]),
      branch: text(stored["branch"]),
      root: text(stored["root"]),
      theme: theme === "light" || theme === "dark" ? theme : "system",
      shortcuts: stored["shortcuts"] !== false,
      density: stored["density"] === "compact" ? "compact" : "comfortable"
    }
  } catch {
    return initial
  }
}

/** Stores a change, if the browser allows it. */
export const save = (change: Partial<Settings>): Settings => {
  const { api, branch, density, repo, root, shortcuts, theme } = { ...load(), ...change }
  const next = { api, repo, branch, root, theme, shortcuts, density }
  try {
    localStorage.setItem(key, JSON.stringify(next))
  } catch {
    return next
  }
  return next
}

export const applyTheme = (theme: Settings["theme"]): void => {
  document.documentElement.dataset["theme"] = theme
}
