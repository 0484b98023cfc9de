import type { HealthFinding } from "../../HealthFinding.js"
import * as Repairs from "../lease/RepairLog.js"
import { unknownLocks } from "../lease/StaleFiles.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import { gitWritersIn } from "../processes/Processes.js"
import * as Accelerators from "./Accelerators.js"

/** So many packs come together only where the maintenance does not succeed. */
const tooManyPacks = 1_000

/** What is to be said of the files of a repository, beside what is in its objects. */
export const examine = async (
  directory: string,
  objects: ObjectDatabase
): Promise<ReadonlyArray<HealthFinding>> => {
  objects.examine()
  const found: Array<HealthFinding> = Repairs.list(directory).map(({ at, message }) => ({
    severity: "ok",
    code: "repaired",
    message: `${at}: ${message}`
  }))
  for (const stem of objects.damagedPacks) {
    found.push({
      severity: "error",
      code: "pack-index",
      message: `${stem}.idx is damaged: the objects of its pack cannot be read`,
      hint: "run `git index-pack` on the pack, or wait for the maintenance; if the pack is damaged too, restore it from a clone"
    })
  }
  for (const name of await Accelerators.damaged(directory)) {
    found.push({
      severity: "warning",
      code: "accelerator",
      message: `${name} is damaged, and Git may fail because of it`,
      hint: "remove the file: the maintenance writes it anew"
    })
  }
  const locks = gitWritersIn(directory)?.length === 0 ? unknownLocks(directory) : []
  for (const name of locks) {
    found.push({
      severity: "warning",
      code: "lock",
      message: `${name} is there, and no Git process of this machine works in the repository`,
      hint: "if no other machine uses the repository either, remove the file"
    })
  }
  if (objects.packCount > tooManyPacks) {
    found.push({
      severity: "warning",
      code: "packs",
      message: `there are ${objects.packCount} packs: the maintenance has not succeeded for long`,
      hint: "the log of the process that writes says why; or run `git gc` in the repository"
    })
  }
  return found
}
