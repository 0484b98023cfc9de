import type { Json, JsonObject } from "../../domain/json/Json.js"
import { cellText, cellValue } from "../values/Cell.js"

export const exportFormats = ["JSON", "NDJSON", "CSV", "Markdown"] as const
export type ExportFormat = (typeof exportFormats)[number]

/** Selects columns of a row, each under its full path. */
export const selectColumns = (row: JsonObject, columns: ReadonlyArray<string>): Record<string, Json> => {
  const picked: Record<string, Json> = Object.create(null) as Record<string, Json>
  for (const column of columns) {
    const value = cellValue(row, column)
    if (value !== undefined) picked[column] = value
  }
  return picked
}

/** Prefixes text that a spreadsheet would run as a formula with an apostrophe, as OWASP advises. */
const withoutFormula = (value: Json | undefined): string => {
  const text = cellText(value)
  return typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

const csvCell = (value: Json | undefined): string => {
  const text = withoutFormula(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const csvName = (name: string) => csvCell(name)

const markdownCell = (value: Json | undefined): string =>
  cellText(value)
    .replaceAll("\\", "\\\\")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replaceAll("`", "\\`")
    .replace(/\r?\n|\r/g, "<br>")

/** Formats rows and columns in their order. */
export const formatRows = (
  format: ExportFormat,
  rows: ReadonlyArray<JsonObject>,
  columns: ReadonlyArray<string>
): string => {
  switch (format) {
    case "JSON":
      return `${JSON.stringify(
        rows.map((row) => selectColumns(row, columns)),
        null,
        2
      )}\n`
    case "NDJSON":
      return rows.map((row) => `${JSON.stringify(selectColumns(row, columns))}\n`).join("")
    case "CSV":
      return [
        columns.map(csvName).join(","),
        ...rows.map((row) => columns.map((column) => csvCell(cellValue(row, column))).join(","))
      ]
        .map((line) => `${line}\r\n`)
        .join("")
    case "Markdown":
      return `${[
        `| ${columns.map(markdownCell).join(" | ")} |`,
        `| ${columns.map(() => "---").join(" | ")} |`,
        ...rows.map(
          (row) => `| ${columns.map((column) => markdownCell(cellValue(row, column))).join(" | ")} |`
        )
      ].join("\n")}\n`
  }
}

export const fileTypes: Readonly<Record<ExportFormat, readonly [ending: string, type: string]>> = {
  JSON: ["json", "application/json"],
  NDJSON: ["ndjson", "application/x-ndjson"],
  CSV: ["csv", "text/csv;charset=utf-8"],
  Markdown: ["md", "text/markdown;charset=utf-8"]
}
