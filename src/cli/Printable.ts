/** What a terminal obeys instead of showing it: control characters but the end of a line and the tab, and what turns the direction of text around. */
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A text as any terminal may be given it: what it would obey stands there as `\u001b`, which inside JSON is the same value. */
export const printable = (text: string): string =>
  text.replace(obeyed, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)
