import { alarm, announce } from "./Announcer.js"

/** Copies text to the clipboard and announces it. */
export const copyText = (text: string, what: string): void => {
  navigator.clipboard.writeText(text).then(
    () => announce(`Copied ${what}.`),
    () => alarm(`The browser did not allow copying ${what}.`)
  )
}

/** Downloads a file. */
export const saveFile = (name: string, type: string, content: string | Uint8Array<ArrayBuffer>): void => {
  const address = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
  announce(`Saved ${name}.`)
}
