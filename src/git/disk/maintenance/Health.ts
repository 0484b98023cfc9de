import * as path from "node:path"
import * as Effect from "effect/Effect"
import type { Steps } from "../../../domain/concurrency/Steps.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { HealthFinding } from "../../HealthFinding.js"
import { filesBelow } from "../files/Directories.js"
import { attemptPromise, attemptSteps, damageAt, damageIn, type EngineError } from "../files/EngineError.js"
import * as RepairLog from "../lease/RepairLog.js"
import { locksOf, oldLocks, unknownLocks } from "../lease/StaleFiles.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import { gitWritersIn } from "../processes/GitWriters.js"
import * as Accelerators from "./Accelerators.js"

/** The number of packs that is reached only if the maintenance fails. */
const tooManyPacks = 1_000

/** What this process may not read: packs by their paths without extension, and why other objects and parts are missing. */
interface Hidden {
  readonly hiddenPacks: ReadonlyArray<string>
  readonly hiddenObjects: ReadonlyArray<EngineError>
  readonly hiddenParts: ReadonlyArray<EngineError>
}

/** Why refs and other files that have no objects cannot be read, except directories of refs. */
function* hiddenPartsOf(directory: string): Steps<ReadonlyArray<EngineError>> {
  const hidden: Array<EngineError | undefined> = [damageIn(path.join(directory, "worktrees"))]
  const mayContain = (part: string) => damageIn(path.join(directory, part)) === undefined
  const refs = mayContain("refs") ? filesBelow(directory, "refs", mayContain) : []
  for (const files of [["config.worktree", "HEAD", "packed-refs"], refs]) {
    for (const name of files) {
      hidden.push(damageAt(path.join(directory, name)))
      yield
    }
  }
  return hidden.filter((damage) => damage !== undefined)
}

/** Examines the files of a repository, but not its objects. */
export const examine = (
  operation: string,
  directory: string,
  objects: ObjectDatabase
): Effect.Effect<ReadonlyArray<HealthFinding>, RemoteError> =>
  Effect.gen(function* () {
    yield* attemptSteps(operation, directory, () => objects.files.examine())
    const hiddenPacks = yield* attemptSteps(operation, directory, () => objects.files.hiddenPacks())
    const hiddenObjects = yield* attemptSteps(operation, directory, () => objects.files.hiddenObjects())
    const hiddenParts = yield* attemptSteps(operation, directory, () => hiddenPartsOf(directory))
    const hidden = { hiddenPacks, hiddenObjects, hiddenParts }
    return yield* attemptPromise(operation, directory, () => findingsIn(directory, objects, hidden))
  })

const findingsIn = async (
  directory: string,
  objects: ObjectDatabase,
  { hiddenObjects, hiddenPacks, hiddenParts }: Hidden
): Promise<ReadonlyArray<HealthFinding>> => {
  const found: Array<HealthFinding> = RepairLog.list(directory).map(({ at, message }) => ({
    severity: "ok",
    code: "repaired",
    message: `${at}: ${message}`
  }))
  for (const stem of objects.files.damagedPacks) {
    found.push({
      severity: "error",
      code: "pack-index",
      message: `${stem}.idx is damaged: the objects of its pack cannot be read`,
      hint: "run `git index-pack` on the pack, or wait for the maintenance; if the pack is damaged too, restore it from a clone"
    })
  }
  for (const stem of hiddenPacks) {
    found.push({
      severity: "error",
      code: "pack-rights",
      message: `this process may not read the pack ${stem}: its objects are missing`,
      hint: "give its user the rights to the whole repository"
    })
  }
  for (const { hint, message } of hiddenObjects) {
    found.push({
      severity: "error",
      code: "objects",
      message: `${message}: the objects that are only there are missing`,
      hint
    })
  }
  for (const name of await Accelerators.damaged(directory)) {
    found.push({
      severity: "warning",
      code: "accelerator",
      message: `${name} is damaged or out of date, and Git may fail because of it`,
      hint: "remove the file: Git works without it"
    })
  }
  const hasWriters = gitWritersIn(directory)?.some(({ writes }) => writes !== "caches") ?? true
  const hidden = [...hiddenParts]
  const locks = locksOf(directory, hidden)
  for (const { hint, message } of hidden) {
    found.push({
      severity: "error",
      code: "rights",
      message: `${message}: what is there was not examined`,
      hint
    })
  }
  for (const name of hasWriters ? [] : unknownLocks(directory, locks)) {
    found.push({
      severity: "warning",
      code: "lock",
      message: `${name} exists, and no Git process of this machine writes in the repository`,
      hint: "if no other machine uses the repository either, remove the file"
    })
  }
  for (const { lock, owner } of oldLocks(directory, locks)) {
    found.push({
      severity: "warning",
      code: "lock",
      message: `${lock} has been held for more than a day, by the process to which the directory ${owner} belongs`,
      hint:
        "the directory is named after the machine, its boot and the process; if that process does not run any more, remove the lock: " +
        "no maintenance begins, or no write of the locked branch, as long as it exists"
    })
  }
  if (objects.files.packCount > tooManyPacks) {
    found.push({
      severity: "warning",
      code: "packs",
      message: `there are ${objects.files.packCount} packs: the maintenance has not succeeded for long`,
      hint: "the log of the process that writes says why; or run `git gc` in the repository"
    })
  }
  return found
}
