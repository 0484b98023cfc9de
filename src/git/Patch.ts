/** Lines of two versions of a file that differ, with the lines around them. A line ends in its newline, where it has one. */
export interface Hunk {
  /** How many lines of the old version come before it. */
  readonly before: number
  readonly old: ReadonlyArray<string>
  readonly new: ReadonlyArray<string>
}

const header = /^@@ -(\d{1,15})(?:,(\d{1,15}))? \+\d{1,15}(?:,\d{1,15})? @@/

const withoutNewline = (lines: Array<string>) => {
  const last = lines.length - 1
  if (last >= 0) lines[last] = lines[last]!.replace(/\n$/, "")
}

/** Reads the hunks of a unified diff of one file; undefined where it is not one. */
export const parsePatch = (text: string): ReadonlyArray<Hunk> | undefined => {
  const hunks: Array<{ readonly before: number; readonly old: Array<string>; readonly new: Array<string> }> =
    []
  let sides: ReadonlyArray<Array<string>> = []
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const found = header.exec(line)
    const hunk = hunks[hunks.length - 1]
    if (found !== null) {
      // A hunk that holds no line of the old version is placed after the line that it names.
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

/** The same changes from the new version to the old one. */
export const reversed = (hunks: ReadonlyArray<Hunk>): ReadonlyArray<Hunk> => {
  let shift = 0
  return hunks.map((hunk) => {
    const before = hunk.before + shift
    shift += hunk.new.length - hunk.old.length
    return { before, old: hunk.new, new: hunk.old }
  })
}

/** The new version that hunks make of the old one; undefined where they are not of this version. */
export const applyPatch = (text: string, hunks: ReadonlyArray<Hunk>): string | undefined => {
  const lines = text.split(/(?<=\n)/)
  const made: Array<string> = []
  let at = 0
  for (const hunk of hunks) {
    if (hunk.before < at || hunk.before > lines.length) return undefined
    for (; at < hunk.before; at++) made.push(lines[at]!)
    for (const line of hunk.old) if (lines[at++] !== line) return undefined
    for (const line of hunk.new) made.push(line)
  }
  for (; at < lines.length; at++) made.push(lines[at]!)
  return made.join("")
}
