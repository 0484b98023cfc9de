import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt, attemptPromise } from "../files/EngineError.js"
import { fsyncPath, unlink } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { entriesIn } from "../lease/StaleFiles.js"
import { runTethered } from "../processes/GitProcess.js"

/*
 * `git repack --geometric -d` deletes packs before the directory with the new one is synced, and Git 2.39 cannot run it in
 * a partial clone or where objects are borrowed. So the packs are chosen here, and deleted once the new pack and the
 * multi-pack-index are durable.
 */

const operation = "GitRepository.maintain"
/** Each pack is to have so many times the objects of the next smaller one. */
const factor = 2
/** Endings of what belongs to a pack. The index goes first, so that nobody finds it without its pack. */
const endings = ["idx", "pack", "rev", "bitmap"]
/** Packs with one of these files beside them stay as they are: somebody keeps them, or their kind would be lost. */
const fixed = ["keep", "promisor", "mtimes"]

interface Counted {
  readonly name: string
  readonly objects: number
}

/** The last number of an index's fan-out is the count of its objects. */
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

/** The smallest packs, as many as have to become one so that the sizes of the others and of the new one grow by `factor`. */
const combinable = (packs: ReadonlyArray<Counted>): ReadonlyArray<Counted> => {
  const sorted = [...packs].sort((a, b) => a.objects - b.objects)
  let end = sorted.length
  while (end > 1 && sorted[end - 1]!.objects >= factor * sorted[end - 2]!.objects) end--
  if (end <= 1) return []
  let sum = sorted.slice(0, end).reduce((total, { objects }) => total + objects, 0)
  for (; end < sorted.length && sorted[end]!.objects < factor * sum; end++) sum += sorted[end]!.objects
  return sorted.slice(0, end)
}

/** Whether a repository may lack objects that its origin promised. */
export const isPartial = (directory: string): boolean =>
  entriesIn(path.join(directory, "objects", "pack")).some(({ name }) => name.endsWith(".promisor"))

export interface RepackOptions {
  readonly directory: string
  readonly owner: Lease
  /** Packs whose index cannot be used, by their paths without an ending. */
  readonly damaged: ReadonlyArray<string>
}

/** Combines small packs and loose objects of a repository, and indexes all packs. Borrowed objects stay where they are. */
export const repack = ({ damaged, directory, owner }: RepackOptions): Effect.Effect<void, RemoteError> =>
  Effect.gen(function* () {
    const place = path.join(directory, "objects", "pack")

    const packs = () => {
      const files = new Set(entriesIn(place).map(({ name }) => name))
      return [...files].flatMap((file) => {
        const name = file.replace(/\.pack$/, "")
        const isUsable =
          name !== file && files.has(`${name}.idx`) && !damaged.includes(path.join(place, name))
        return isUsable ? [{ name, isFixed: fixed.some((ending) => files.has(`${name}.${ending}`)) }] : []
      })
    }

    /** Runs Git with lines as its input. */
    const git = (args: ReadonlyArray<string>, lines: ReadonlyArray<string>) =>
      Effect.acquireUseRelease(
        attempt(operation, directory, () => {
          const file = owner.temporaryPath("input")
          fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(""))
          return file
        }),
        (file) => runTethered(directory, operation, ["-c", "core.fsync=all", ...args], file),
        (file) => Effect.ignore(Effect.try(() => unlink(file)))
      )

    const sync = attemptPromise(operation, directory, () => fsyncPath(place))

    const { chosen, others } = yield* attempt(operation, directory, () => {
      const present = packs()
      const counted = present.flatMap(({ isFixed, name }) =>
        isFixed ? [] : [{ name, objects: objectsIn(path.join(place, `${name}.idx`)) }]
      )
      const chosen = new Set(combinable(counted).map(({ name }) => name))
      return { chosen, others: present.filter(({ name }) => !chosen.has(name)) }
    })
    const { stdout } = yield* git(
      [
        ...["-c", "pack.threads=1", "pack-objects", "--stdin-packs", "--unpacked", "--non-empty", "-q"],
        ...["--delta-base-offset", path.join(place, "pack")]
      ],
      [...[...chosen].map((name) => `${name}.pack`), ...others.map(({ name }) => `^${name}.pack`)]
    )
    yield* sync
    // Where nothing new was made, the other packs have the same objects.
    const made = new Set(stdout.split("\n").map((hash) => `pack-${hash}`))
    const redundant = [...chosen].filter((name) => !made.has(name))
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
        for (const ending of endings) unlink(path.join(place, `${name}.${ending}`))
      }
    })
    yield* git(["prune-packed", "-q"], [])
  })
