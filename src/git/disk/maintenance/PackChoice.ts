import * as fs from "node:fs"
import * as path from "node:path"
import { parseConfig, settingName } from "../files/ConfigFile.js"
import { pathExists } from "../files/Directories.js"
import { hasErrorCode } from "../files/FileOperations.js"
import { entriesIn } from "../lease/StaleFiles.js"
import { completePacks } from "../packs/PackSet.js"

/** The least ratio of the number of objects of a pack and of the next smaller one. */
const factor = 2
/** A pack with a file of one of these extensions is not combined: it is kept, or its kind would be lost. */
const fixed = ["keep", "promisor", "mtimes"]

interface Counted {
  readonly stem: string
  readonly objects: number
}

/** Runs a function on a file; undefined if Git removed the file meanwhile. */
const ifPresent = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT")) return undefined
    throw cause
  }
}

/** The number of objects of a pack: the last entry of the fan-out table of its index. */
const objectsIn = (index: string): number => {
  const fd = fs.openSync(index, "r")
  try {
    const head = Buffer.alloc(8 + 256 * 4)
    fs.readSync(fd, head, 0, head.length, 0)
    return head.readUInt32BE(head.readUInt32BE(0) === 0xff744f63 ? 8 + 255 * 4 : 255 * 4)
  } finally {
    fs.closeSync(fd)
  }
}

/** The smallest packs that must be combined so that the numbers of objects of the remaining packs grow by `factor`. */
const combinable = (packs: ReadonlyArray<Counted>): ReadonlyArray<Counted> => {
  const sorted = [...packs].sort((a, b) => a.objects - b.objects)
  let end = sorted.length
  while (end > 1 && sorted[end - 1]!.objects >= factor * sorted[end - 2]!.objects) end--
  if (end <= 1) return []
  let sum = sorted.slice(0, end).reduce((total, { objects }) => total + objects, 0)
  for (; end < sorted.length && sorted[end]!.objects < factor * sum; end++) sum += sorted[end]!.objects
  return sorted.slice(0, end)
}

/** Whether a pack must stay as it is. `stem` is its path without extension. */
export const isFixed = (stem: string): boolean => fixed.some((ending) => pathExists(`${stem}.${ending}`))

/** Whether Git refuses to remove objects from a repository, since other repositories may use them. */
export const hasPreciousObjects = (directory: string): boolean => {
  const file = path.join(directory, "config")
  const text = ifPresent(() => fs.readFileSync(file, "utf8"))
  return parseConfig(file, text ?? "").some(
    (setting) =>
      settingName(setting) === "extensions.preciousobjects" &&
      /^(?:true|yes|on|[1-9]\d*)$/i.test(setting.value)
  )
}

export interface PackChoiceOptions {
  readonly packDirectory: string
  /** Whether a pack, given by its path without extension, must not be combined. */
  readonly isLeftOut: (stem: string) => boolean
  /** The configured limit of the size of a pack in bytes; 0: none. */
  readonly sizeLimit: number
}

/** The packs to combine, by their paths without extension. */
export const choosePacks = ({
  isLeftOut,
  packDirectory,
  sizeLimit
}: PackChoiceOptions): ReadonlyArray<string> => {
  const names = completePacks(entriesIn(packDirectory).map(({ name }) => name))
  const packs = names.flatMap((name) => {
    const stem = path.join(packDirectory, name)
    if (isLeftOut(stem) || isFixed(stem)) return []
    // Two packs of this size do not fit in one, so combining them would write them again and again.
    const isFull = () => sizeLimit > 0 && fs.statSync(`${stem}.pack`).size > sizeLimit / 2
    const objects = ifPresent(() => (isFull() ? undefined : objectsIn(`${stem}.idx`)))
    return objects === undefined ? [] : [{ stem, objects }]
  })
  return combinable(packs).map(({ stem }) => stem)
}
