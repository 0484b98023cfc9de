/** Control characters except line feed and tab, and characters that change the text direction. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Replaces control characters by escapes such as `\u001b`, which are also valid in JSON. */
export const escapeControls = (text: string): string =>
  text.replace(controls, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
