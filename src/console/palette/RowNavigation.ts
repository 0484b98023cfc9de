/** Focuses the next or the previous row. If a document is open, opens the document of that row. */
export const moveToRow = (document: string | undefined, by: 1 | -1): void => {
  const rows = [...window.document.querySelectorAll<HTMLElement>(".table .open")]
  const active = window.document.activeElement?.closest("tr")?.querySelector(".open")
  const at = rows.findIndex((row) =>
    document === undefined ? row === active : row.id === `open-${document}`
  )
  const row = at < 0 ? (document === undefined ? rows[0] : undefined) : rows[at + by]
  if (row === undefined) return
  row.focus()
  row.scrollIntoView({ block: "nearest" })
  if (document !== undefined) row.click()
}
