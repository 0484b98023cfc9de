import * as fs from "node:fs"
import * as path from "node:path"

/** What a directory is called while a repository is made in it, or removed. */
export const creatingPrefix = ".creating-"
export const removingPrefix = ".removing-"

/** Both take moments; what is so old has nobody left who goes on with it. */
const abandoned = 60 * 60 * 1000

const directoriesIn = (directory: string): ReadonlyArray<string> => {
  try {
    return fs
      .readdirSync(directory, { withFileTypes: true })
      .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  } catch {
    return []
  }
}

const isAbandoned = (directory: string, now: number): boolean => {
  const { mtimeMs } = fs.statSync(directory, { throwIfNoEntry: false }) ?? { mtimeMs: now }
  return now - mtimeMs > abandoned
}

const isUnfinished = (name: string): boolean =>
  name.startsWith(removingPrefix) || name.startsWith(creatingPrefix)

/**
 * Deletes what processes left below the directory of all repositories that ended while they made or removed one: no
 * name leads there any more, or not yet. What cannot be deleted stays for the next start.
 */
export const removeAbandoned = async (root: string): Promise<void> => {
  const now = Date.now()
  const clearIn = async (directory: string) => {
    for (const name of directoriesIn(directory).filter(isUnfinished)) {
      const place = path.join(directory, name)
      if (isAbandoned(place, now))
        await fs.promises.rm(place, { recursive: true, force: true }).catch(() => undefined)
    }
  }
  await clearIn(root)
  for (const owner of directoriesIn(root)) await clearIn(path.join(root, owner))
}
