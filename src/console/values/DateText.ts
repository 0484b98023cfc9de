import type { Json } from "../../domain/json/Json.js"

/** A date with a time and an offset, as JSON.stringify and most programs write it. */
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/

const words = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "short" })

/** The local date and time of a text like `2026-11-25T17:53:26Z`; undefined for any other value. */
export const dateText = (value: Json | undefined): string | undefined => {
  if (typeof value !== "string" || value.length > 40 || !dateTime.test(value)) return undefined
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? undefined : words.format(date)
}

/** Whether a value is a date, with or without a time. */
export const isDate = (value: Json | undefined): boolean =>
  dateText(value) !== undefined ||
  (typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)))
