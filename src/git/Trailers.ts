/** Whether a paragraph consists of trailers: a token, a colon and a value, which may continue in indented lines. */
const isTrailers = (paragraph: string) =>
  paragraph
    .split(/\r?\n/)
    .every((line, index) => /^[A-Za-z0-9-]+: /.test(line) || (index > 0 && /^[ \t]/.test(line)))

/** Whether the last paragraph, except for the title, consists of trailers. */
const endsInTrailers = (message: string) => {
  const paragraphs = message.split(/\n(?:[ \t]*\r?\n)+/).filter((paragraph) => paragraph.trim() !== "")
  return paragraphs.length > 1 && isTrailers(paragraphs[paragraphs.length - 1]!)
}

/** Appends a trailer to a commit message: to its last paragraph if that consists of trailers, or else as a new paragraph. */
export const withTrailer = (message: string, token: string, value: string): string => {
  const text = message.trimEnd()
  const between = text === "" ? "" : endsInTrailers(text) ? "\n" : "\n\n"
  return `${text}${between}${token}: ${value}`
}
