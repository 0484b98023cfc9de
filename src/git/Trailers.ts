/** A paragraph of trailers as Git reads them: a token, a colon and a value, which may go on in indented lines. */
const isTrailers = (paragraph: string) =>
  paragraph
    .split(/\r?\n/)
    .every((line, index) => /^[A-Za-z0-9-]+: /.test(line) || (index > 0 && /^[ \t]/.test(line)))

/** Whether the last paragraph is one of trailers; the first is the title. */
const endsInTrailers = (message: string) => {
  const paragraphs = message.split(/\n(?:[ \t]*\r?\n)+/).filter((paragraph) => paragraph.trim() !== "")
  return paragraphs.length > 1 && isTrailers(paragraphs[paragraphs.length - 1]!)
}

/** The message of a commit with one trailer more, in its last paragraph where that is one of trailers. */
export const withTrailer = (message: string, token: string, value: string): string => {
  const text = message.trimEnd()
  const between = text === "" ? "" : endsInTrailers(text) ? "\n" : "\n\n"
  return `${text}${between}${token}: ${value}`
}
