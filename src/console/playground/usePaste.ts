import { useEffect } from "preact/hooks"
import { isTyping } from "../page/Shortcuts.js"

/** Calls back when text is pasted outside of a field. */
export const usePaste = (pasted: (text: string) => void): void => {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return
      const text = event.clipboardData?.getData("text/plain").trim() ?? ""
      if (text === "") return
      event.preventDefault()
      pasted(text)
    }
    addEventListener("paste", paste)
    return () => removeEventListener("paste", paste)
  })
}
