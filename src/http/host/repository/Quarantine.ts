import { readdir, readFile, readlink, realpath, rm, stat } from "node:fs/promises"
import { join, sep } from "node:path"
import { Effect, Schedule } from "effect"
import { othersMayLive } from "../../../git/disk/Owner.js"

const prefix = "tmp_objdir-incoming-"

/** Where some process may be at work, nothing that was changed within this time is taken for abandoned. */
const patience = 60 * 60 * 1000

/** Programs that keep nothing apart. */
const readers = /\b(?:upload-pack|pack-objects)\b/

/** Whether some process works in a directory, as those that receive a push do; undefined where that cannot be told. */
const isWorkplace = async (directory: string): Promise<boolean | undefined> => {
  const place = await realpath(directory)
  let told = false
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue
    try {
      const at = await readlink(`/proc/${pid}/cwd`)
      told = true
      if (at !== place && !at.startsWith(place + sep)) continue
      if (!readers.test(await readFile(`/proc/${pid}/cmdline`, "latin1"))) return true
    } catch {
      // It is gone, or that of another user, who does not write here.
    }
  }
  return told ? false : undefined
}

const changedAt = async (directory: string): Promise<number> => {
  const names = await readdir(directory, { recursive: true })
  const times = await Promise.all([".", ...names].map((name) => stat(join(directory, name))))
  return Math.max(...times.map(({ mtimeMs }) => mtimeMs))
}

/** Removes what ended pushes left; answers whether nothing is left that could be. */
const removeAbandoned = async (repository: string): Promise<boolean> => {
  const objects = join(repository, "objects")
  const left = (await readdir(objects)).filter((name) => name.startsWith(prefix))
  if (left.length === 0) return true
  const used = othersMayLive(repository) ? undefined : await isWorkplace(repository).catch(() => undefined)
  let removed = 0
  for (const name of left) {
    const directory = join(objects, name)
    if (used !== false && Date.now() - (await changedAt(directory)) <= patience) continue
    await rm(directory, { recursive: true, force: true })
    removed++
  }
  return removed === left.length
}

/**
 * Removes the objects that pushes kept apart and left behind, because they were killed. Those of a push that is under way
 * stay: its programs work in the repository.
 */
export const clean = (repository: string): Effect.Effect<boolean> =>
  Effect.orElseSucceed(
    Effect.tryPromise(() => removeAbandoned(repository)),
    () => false
  )

const soon = Schedule.intersect(Schedule.spaced("50 millis"), Schedule.recurs(20))

/** Around the program that receives a push: ended early, it leaves objects, and its own children end a little later. */
export const around = <A, E, R>(
  repository: string,
  receive: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.onError(receive, () =>
    Effect.repeat(clean(repository), { schedule: soon, until: (cleaned) => cleaned })
  )
