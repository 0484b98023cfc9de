import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"

/** Name prefixes of the directories in which a repository is created or removed. */
export const creatingPrefix = ".creating-"
export const removingPrefix = ".removing-"

/** The age in milliseconds of an abandoned directory. Creating or removing a repository takes moments, or touches the directory. */
const abandonedAfter = 60 * 60 * 1000

/** Touches a directory in which a repository is created, so that another process does not regard it as abandoned. */
export const keepUnfinished = (directory: string): Effect.Effect<never> => {
  const touch = Effect.try(() => fs.utimesSync(directory, new Date(), new Date()))
  return Effect.forever(Effect.zipRight(Effect.sleep(abandonedAfter / 4), Effect.ignore(touch)))
}

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
  return now - mtimeMs > abandonedAfter
}

const isUnfinished = (name: string): boolean =>
  name.startsWith(removingPrefix) || name.startsWith(creatingPrefix)

/**
 * Deletes the directories of processes that ended while they created or removed a repository, unless one of the repositories in
 * them `isUsed`: a machine that slept touches nothing. A directory that cannot be deleted is tried again at the next start.
 */
export const removeAbandoned = async (
  root: string,
  isUsed: (repository: string) => boolean
): Promise<void> => {
  const now = Date.now()
  const removeIn = async (directory: string) => {
    for (const name of directoriesIn(directory).filter(isUnfinished)) {
      const abandoned = path.join(directory, name)
      const repositories = [abandoned, ...directoriesIn(abandoned).map((name) => path.join(abandoned, name))]
      if (isAbandoned(abandoned, now) && !repositories.some(isUsed))
        await fs.promises.rm(abandoned, { recursive: true, force: true }).catch(() => undefined)
    }
  }
  await removeIn(root)
  for (const owner of directoriesIn(root)) await removeIn(path.join(root, owner))
}
