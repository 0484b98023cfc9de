import type { Json } from "../../domain/json/Json.js"
import { cellText, truncated } from "./Cell.js"
import { dateText } from "./DateText.js"

/** A value in a table of differences. In a narrow column a timestamp is broken only between its date and its time. */
export const DifferenceValue = ({ value }: { readonly value: Json }) => {
  const text = truncated(cellText(value))
  if (dateText(value) === undefined) return <>{text}</>
  const time = text.indexOf("T") + 1
  return (
    <>
      <span class="unbroken">{text.slice(0, time)}</span>
      <span class="unbroken">{text.slice(time)}</span>
    </>
  )
}
