import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt, attemptPromise } from "../files/EngineError.js"
import { fsyncPath, unlink } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { entriesIn } from "../lease/StaleFiles.js"
import { runTethered } from "../processes/GitExecution.js"

/*
 * `git repack --geometric -d` deletes packs before it has synced the directory with the new pack, and Git 2.39 cannot run it in a
 * partial clone or in a repository with alternates. So the packs are chosen here, and deleted after the new pack and the
 * multi-pack index are durable.
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
  /** Packs with a damaged index, by their paths without extension. */
  readonly damaged: ReadonlyArray<string>
}

/** Combines small packs and loose objects of a repository, and writes a multi-pack index. Objects of alternates are left there. */
export const repack = ({ damaged, directory, lease }: RepackOptions): Effect.Effect<void, RemoteError> =>
  Effect.gen(function* () {
    const packDirectory = path.join(directory, "objects", "pack")

    const packs = () => {
      const files = new Set(entriesIn(packDirectory).map(({ name }) => name))
      return [...files].flatMap((file) => {
        const name = file.replace(/\.pack$/, "")
        const isUsable =
          name !== file && files.has(`${name}.idx`) && !damaged.includes(path.join(packDirectory, name))
        return isUsable ? [{ name, isFixed: fixed.some((ending) => files.has(`${name}.${ending}`)) }] : []
      })
    }

    /** Runs Git with lines as its standard input. */
    const git = (args: ReadonlyArray<string>, lines: ReadonlyArray<string>) =>
      Effect.acquireUseRelease(
        attempt(operation, directory, () => {
          const file = lease.temporaryPath("input")
          fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(""))
          return file
        }),
        (file) => runTethered(directory, operation, ["-c", "core.fsync=all", ...args], file),
        (file) => Effect.ignore(Effect.try(() => unlink(file)))
      )

    const sync = attemptPromise(operation, directory, () => fsyncPath(packDirectory))

    const { chosen, others } = yield* attempt(operation, directory, () => {
      const present = packs()
      const counted = present.flatMap(({ isFixed, name }) =>
        isFixed ? [] : [{ name, objects: objectsIn(path.join(packDirectory, `${name}.idx`)) }]
      )
      const chosen = new Set(combinable(counted).map(({ name }) => name))
      return { chosen, others: present.filter(({ name }) => !chosen.has(name)) }
    })
    const { stdout } = yield* git(
      [
        ...["-c", "pack.threads=1", "pack-objects", "--stdin-packs", "--unpacked", "--non-empty", "-q"],
        ...["--delta-base-offset", path.join(packDirectory, "pack")]
      ],
      [...[...chosen].map((name) => `${name}.pack`), ...others.map(({ name }) => `^${name}.pack`)]
    )
    yield* sync
    // If no pack was written, the other packs contain the same objects.
    const written = new Set(stdout.split("\n").map((hash) => `pack-${hash}`))
    const redundant = [...chosen].filter((name) => !written.has(name))
    const remaining = yield* attempt(operation, directory, () =>
      packs().filter(({ name }) => !redundant.includes(name))
    )
    if (remaining.length > 0) {
      yield* git(
        ["multi-pack-index", "write", "--stdin-packs", "--no-progress"],
        remaining.map(({ name }) => `${name}.idx`)
      )
      yield* sync
    }
    yield* attempt(operation, directory, () => {
      for (const name of redundant) {
        for (const ending of extensions) unlink(path.join(packDirectory, `${name}.${ending}`))
      }
    })
    yield* git(["prune-packed", "-q"], [])
  })
