import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { pathExists } from "../files/Directories.js"
import { attempt, attemptPromise, toRemoteError } from "../files/EngineError.js"
import { fsyncPath, hasErrorCode, tryUnlink, unlink } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { entriesIn } from "../lease/StaleFiles.js"
import type { ObjectFiles } from "../objects/ObjectFiles.js"
import { PackIndex } from "../packs/PackIndex.js"
import { completePacks } from "../packs/PackSet.js"
import { type PlacedPack, placePack } from "../packs/PackWriter.js"
import { runTethered } from "../processes/GitExecution.js"
import * as Accelerators from "./Accelerators.js"

/*
 * `git repack --geometric -d` deletes packs before it has synced the directory with the new pack, and Git 2.39 cannot run it in a
 * partial clone or in a repository with alternates. So the packs are chosen here, and deleted after the new pack is durable.
 *
 * Stock Git may repack at the same time. `git repack -a -d` removes each pack that was there when it began, with all objects that
 * no ref reached at that time, even if a commit has written such an object again since. So a copy is deleted only if the new pack
 * contains the object, never because another pack does. And no multi-pack index is written: Git does not find an object whose copy
 * in the index was removed, even if another pack of the index has it.
 */

const operation = "GitRepository.maintain"
/** The least ratio of the number of objects of a pack and of the next smaller one. */
const factor = 2
/** The extensions of the files of a pack. The index is removed first, so that no reader finds an index without its pack. */
const extensions = ["idx", "pack", "rev", "bitmap"]
/** A pack with a file of one of these extensions is not combined: it is kept, or its kind would be lost. */
const fixed = ["keep", "promisor", "mtimes"]

interface Counted {
  readonly name: string
  readonly objects: number
}

/** The number of objects of a pack: the last entry of the fan-out table of its index. Undefined if Git removed it meanwhile. */
const objectsIn = (index: string): number | undefined => {
  let fd: number
  try {
    fd = fs.openSync(index, "r")
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT")) return undefined
    throw cause
  }
  try {
    const head = Buffer.alloc(8 + 256 * 4)
    fs.readSync(fd, head, 0, head.length, 0)
    return head.readUInt32BE(head.readUInt32BE(0) === 0xff744f63 ? 8 + 255 * 4 : 255 * 4)
  } finally {
    fs.closeSync(fd)
  }
}

/** The smallest packs that must be combined so that the sizes of the remaining packs grow by `factor`. */
const combinable = (packs: ReadonlyArray<Counted>): ReadonlyArray<Counted> => {
  const sorted = [...packs].sort((a, b) => a.objects - b.objects)
  let end = sorted.length
  while (end > 1 && sorted[end - 1]!.objects >= factor * sorted[end - 2]!.objects) end--
  if (end <= 1) return []
  let sum = sorted.slice(0, end).reduce((total, { objects }) => total + objects, 0)
  for (; end < sorted.length && sorted[end]!.objects < factor * sum; end++) sum += sorted[end]!.objects
  return sorted.slice(0, end)
}

/** Whether a repository is a partial clone, which may lack objects. */
export const isPartial = (directory: string): boolean =>
  entriesIn(path.join(directory, "objects", "pack")).some(({ name }) => name.endsWith(".promisor"))

export interface RepackOptions {
  readonly directory: string
  readonly lease: Lease
  readonly files: ObjectFiles
}

/** Combines small packs and loose objects of a repository. Objects of alternates are left there. */
export const repack = ({ directory, files, lease }: RepackOptions): Effect.Effect<void, RemoteError> =>
  Effect.gen(function* () {
    const objects = path.join(directory, "objects")
    const packDirectory = path.join(objects, "pack")
    const stemOf = (name: string) => path.join(packDirectory, name)

    /** The packs to combine, by their names without extension. */
    const choose = (): ReadonlyArray<string> => {
      const isFixed = (name: string) => fixed.some((ending) => pathExists(`${stemOf(name)}.${ending}`))
      const packs = completePacks(entriesIn(packDirectory).map(({ name }) => name)).flatMap((name) => {
        if (files.damagedPacks.includes(stemOf(name)) || isFixed(name)) return []
        const objects = objectsIn(`${stemOf(name)}.idx`)
        return objects === undefined ? [] : [{ name, objects }]
      })
      return combinable(packs).map(({ name }) => name)
    }

    /** Combines packs and all loose objects in new packs, and returns the paths of those without extension. */
    const combine = (chosen: ReadonlyArray<string>, target: string) =>
      Effect.gen(function* () {
        const input = `${target}-input`
        yield* attempt(operation, directory, () =>
          fs.writeFileSync(input, chosen.map((name) => `${name}.pack\n`).join(""))
        )
        const settings = ["core.fsync=all", "pack.threads=1", "pack.writeReverseIndex=false"]
        const args = ["--stdin-packs", "--unpacked", "--non-empty", "--delta-base-offset", "-q", target]
        const command = [...settings.flatMap((setting) => ["-c", setting]), "pack-objects", ...args]
        const { stdout } = yield* runTethered(directory, operation, command, input)
        return stdout.split("\n").flatMap((hash) => (hash === "" ? [] : [`${target}-${hash}`]))
      })

    const removePacks = (names: ReadonlyArray<string>) =>
      attempt(operation, directory, () => {
        if (names.length === 0) return
        Accelerators.dropMultiPackIndex(directory)
        for (const name of names) for (const ending of extensions) unlink(`${stemOf(name)}.${ending}`)
        // Git may have written another one meanwhile.
        Accelerators.dropMultiPackIndex(directory)
      })

    /** Removes the loose objects that packs contain. */
    const removeLoose = (stems: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const indexes = yield* attempt(operation, directory, () => stems.map(PackIndex.whole))
        const isPacked = (oid: Oid) => indexes.some((index) => index.find(Buffer.from(oid, "hex")) >= 0)
        yield* Effect.catchAllDefect(
          Steps.run(() => files.loose.remove(isPacked)),
          (cause) => Effect.fail(toRemoteError(operation, directory, cause))
        )
      })

    const chosen = yield* attempt(operation, directory, choose)
    yield* Effect.acquireUseRelease(
      attempt(operation, directory, () => {
        const target = lease.temporaryPath("repack")
        fs.writeFileSync(target, "")
        const placed: Array<PlacedPack> = []
        return { target, placed }
      }),
      ({ placed, target }) =>
        Effect.gen(function* () {
          const written = yield* combine(chosen, target)
          if (written.length === 0) return
          yield* attempt(operation, directory, () => {
            for (const stem of written) {
              const pack = { pack: `${stem}.pack`, idx: `${stem}.idx` }
              placed.push(placePack({ files: pack, keepSource: target, objects }))
            }
          })
          yield* attemptPromise(operation, directory, () => fsyncPath(packDirectory))
          yield* removePacks(chosen)
          yield* removeLoose(placed.map(({ stem }) => stem))
        }),
      ({ placed, target }) =>
        Effect.sync(() => {
          for (const { unprotect } of placed) unprotect()
          const [home, own] = [path.dirname(target), path.basename(target)]
          const isOwn = (name: string) => name === own || name.startsWith(`${own}-`)
          for (const { name } of entriesIn(home)) if (isOwn(name)) tryUnlink(path.join(home, name))
        })
    )
  })
