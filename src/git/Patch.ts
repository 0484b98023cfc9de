/** Differing lines of two versions of a file, with context lines. Each line includes its newline, if it has one. */
export interface Hunk {
  /** The number of lines of the old version before the hunk. */
  readonly before: number
  readonly old: ReadonlyArray<string>
  readonly new: ReadonlyArray<string>
}

const header = /^@@ -(\d{1,15})(?:,(\d{1,15}))? \+\d{1,15}(?:,\d{1,15})? @@/

const withoutNewline = (lines: Array<string>) => {
  const last = lines.length - 1
  if (last >= 0) lines[last] = lines[last]!.replace(/\n$/, "")
}

/** Parses the unified diff of one file; undefined if the text is not a unified diff. */
export const parsePatch = (text: string): ReadonlyArray<Hunk> | undefined => {
  const hunks: Array<{ readonly before: number; readonly old: Array<string>; readonly new: Array<string> }> =
    []
  let sides: ReadonlyArray<Array<string>> = []
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const found = header.exec(line)
    const hunk = hunks[hunks.length - 1]
    if (found !== null) {
      // A hunk without old lines comes after the line that its header names.
      hunks.push({ before: Number(found[1]) - (found[2] === "0" ? 0 : 1), old: [], new: [] })
      continue
    }
    if (hunk === undefined) return undefined
    if (line.startsWith("\\")) {
      for (const side of sides) withoutNewline(side)
      continue
    }
    if (line.startsWith("-")) sides = [hunk.old]
    else if (line.startsWith("+")) sides = [hunk.new]
    else if (line.startsWith(" ")) sides = [hunk.old, hunk.new]
    else return undefined
    for (const side of sides) side.push(`${line.slice(1)}\n`)
  }
  return hunks.length === 0 ? undefined : hunks
}

/** The changes from the new version to the old one. */
export const reversed = (hunks: ReadonlyArray<Hunk>): ReadonlyArray<Hunk> => {
  let shift = 0
  return hunks.map((hunk) => {
    const before = hunk.before + shift
    shift += hunk.new.length - hunk.old.length
    return { before, old: hunk.new, new: hunk.old }
  })
}

/** Applies hunks to the old version; undefined if they do not match it. */
export const applyPatch = (text: string, hunks: ReadonlyArray<Hunk>): string | undefined => {
  const lines = text.split(/(?<=\n)/)
  const result: Array<string> = []
  let at = 0
  for (const hunk of hunks) {
    if (hunk.before < at || hunk.before > lines.length) return undefined
    for (; at < hunk.before; at++) result.push(lines[at]!)
    for (const line of hunk.old) if (lines[at++] !== line) return undefined
    for (const line of hunk.new) result.push(line)
  }
  for (; at < lines.length; at++) result.push(lines[at]!)
  return result.join("")
}
