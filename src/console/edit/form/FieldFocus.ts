const controls = "input, textarea, select:not(.field-state)"

/** Focuses an element; of a group of fields its first control, else its first button. Returns whether there was one. */
export const focusField = (id: string): boolean => {
  const found = document.getElementById(id)
  if (found === null) return false
  const target =
    found.tagName === "FIELDSET"
      ? (found.querySelector<HTMLElement>(controls) ??
        found.querySelector<HTMLElement>("select, button:not(:disabled)"))
      : found
  target?.focus()
  return target !== null
}
