import type { TargetedEvent } from "preact"
import "./text-input.css"

/**
 * A text input that keeps line breaks: an input element would remove them from its value and from a pasted text. In a
 * text of one line, only Shift+Enter adds a line, and Enter submits the form.
 */
export const TextInput = ({
  isLong,
  value,
  ...attributes
}: {
  readonly value: string
  readonly isLong?: boolean
  readonly onInput: (event: TargetedEvent<HTMLTextAreaElement>) => void
  readonly [name: string]: unknown
}) => {
  const isOneLine = isLong !== true && !value.includes("\n")
  return (
    <textarea
      {...attributes}
      class={isOneLine ? "text-input one-line" : "text-input"}
      rows={isOneLine ? 1 : 4}
      wrap={isOneLine ? "off" : "soft"}
      value={value}
      onKeyDown={(event) => {
        const hasModifier = event.shiftKey || event.altKey || event.ctrlKey || event.metaKey
        if (!isOneLine || event.key !== "Enter" || hasModifier || event.isComposing) return
        event.preventDefault()
        event.currentTarget.form?.requestSubmit()
      }}
    />
  )
}
