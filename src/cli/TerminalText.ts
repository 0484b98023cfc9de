/** Characters that control a terminal: control characters but line feed and tab, and marks of text direction. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A text that is safe on a terminal: control characters become escapes such as `\u001b`, which JSON reads as the same text. */
export const escapeControls = (text: string): string =>
  text.replace(controls, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
