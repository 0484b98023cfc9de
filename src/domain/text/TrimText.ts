/**
 * A text without the characters at its end that match. An expression such as `/x+$/` takes time that grows with the
 * square of the length of a run inside the text.
 */
export const trimEnd = (text: string, character: RegExp): string => {
  let end = text.length
  while (end > 0 && character.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** A text without the characters at both its ends that match. */
export const trim = (text: string, character: RegExp): string => {
  let start = 0
  while (start < text.length && character.test(text[start]!)) start++
  return trimEnd(text.slice(start), character)
}
