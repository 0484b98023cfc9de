/**
 * Removes the matching characters at the end of a text. An expression such as `/x+$/` would take quadratic time on a
 * long run of `x` inside the text.
 */
export const trimEnd = (text: string, character: RegExp): string => {
  let end = text.length
  while (end > 0 && character.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** Removes the matching characters at both ends of a text. */
export const trim = (text: string, character: RegExp): string => {
  let start = 0
  while (start < text.length && character.test(text[start]!)) start++
  return trimEnd(text.slice(start), character)
}
