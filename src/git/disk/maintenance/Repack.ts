import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { pathExists } from "../files/Directories.js"
import { attempt, attemptPromise, EngineError, toRemoteError, waitMillis } from "../files/EngineError.js"
import { hasErrorCode, unlink } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { entriesIn, keepText } from "../lease/StaleFiles.js"
import type { ObjectFiles } from "../objects/ObjectFiles.js"
import { PackIndex } from "../packs/PackIndex.js"
import { damageOfPack, stampOfPack } from "../packs/PackSet.js"
import { type PlacedPack, placePack } from "../packs/PackWriter.js"
import { run } from "../processes/GitExecution.js"
import { gitWritersIn } from "../processes/GitWriters.js"
import * as Accelerators from "./Accelerators.js"
import type { MaintenanceHistory } from "./MaintenanceHistory.js"
import { choosePacks, hasPreciousObjects, isFixed } from "./PackChoice.js"
import { makePackObjects } from "./PackObjects.js"
import { syncPath } from "./Syncing.js"

/*
 * `git repack --geometric -d` deletes packs before it has synced the directory with the new pack, and Git 2.39 cannot run it in a
 * partial clone or in a repository with alternates. So the packs are chosen here, and deleted after the new pack is durable.
 *
 * Stock Git may repack at the same time. `git repack -a -d` removes each pack that was there when it began, with all objects that
 * no ref reached at that time, even if a commit has written or linked such an object again since. So
 * - a copy is deleted only if the new pack contains the object, never because another pack does;
 * - loose objects that no ref reaches stay loose, where Git leaves them alone, and so do those that were written again since;
 * - no multi-pack index is written: Git does not find an object whose copy in the index was removed, even if another pack of the
 *   index has it;
 * - the new pack is younger than the old ones: of several copies, a multi-pack index names the one in the youngest pack, and `git
 *   multi-pack-index expire` deletes the other packs;
 * - a file that could not be deleted is not deleted later by its name: Git may have made the same pack again.
 */

const operation = "GitRepository.maintain"
/** The extensions of the files of a pack beside its index. */
const extensions = ["rev", "bitmap", "pack"]

/** New packs that are complete, and the copies of their objects that are not deleted yet. */
interface Combination {
  /** The temporary file of the lease whose links protect the new packs. */
  readonly target: string
  readonly placed: ReadonlyArray<PlacedPack>
  /** The old packs, by their paths without extension; undefined if the objects were loose. */
  readonly replaced: ReadonlyArray<string> | undefined
  /** The time before the objects were read, by the clock of the disk. */
  readonly begun: number
}

export interface RepackOptions {
  readonly directory: string
  readonly lease: Lease
  readonly files: ObjectFiles
  readonly durable: boolean
  readonly history: MaintenanceHistory
}

export interface Repack {
  /** Combines small packs. Objects of alternates are left there. */
  readonly combinePacks: Effect.Effect<void, RemoteError>
  /** Packs the loose objects that refs reach. */
  readonly packLoose: Effect.Effect<void, RemoteError>
  /** The packs that could not be deleted after their index was, by their paths without extension. They need an index again. */
  readonly withoutIndex: Set<string>
}

/** For how many milliseconds the Git commands are waited for that may have read the old packs. */
const gitWait = 10_000
/** For how many milliseconds new packs stay protected where it is not known which Git commands run. */
const unlistedWait = 3_600_000
/** By how many milliseconds the start of a process and the clock of this process may differ. */
const clockDifference = 50

function* loadIndexes(packs: ReadonlyArray<PlacedPack>): Steps.Steps<ReadonlyArray<PackIndex>> {
  const indexes: Array<PackIndex> = []
  for (const { stem } of packs) indexes.push(yield* PackIndex.load(stem))
  return indexes
}

/** Whether indexes contain every object of a pack. */
function* isContained(stem: string, indexes: ReadonlyArray<PackIndex>): Steps.Steps<boolean> {
  let compared = 0
  const index = yield* PackIndex.load(stem)
  for (const oid of index.all()) {
    const bytes = Buffer.from(oid, "hex")
    if (!indexes.some((index) => index.find(bytes) >= 0)) return false
    if (++compared % Steps.stepSize === 0) yield
  }
  return true
}

/** Makes the repacking of a repository. */
export const makeRepack = Effect.fnUntraced(function* ({
  directory,
  durable,
  files,
  history,
  lease
}: RepackOptions) {
  const objects = path.join(directory, "objects")
  const packDirectory = path.join(objects, "pack")
  const withoutIndex = new Set<string>()
  const { undeletable, unreadable } = history
  const packing = makePackObjects(directory, lease, files)
  /**
   * Combinations for whose old packs a Git command may still write a multi-pack index, and when the last of these was deleted. The
   * new packs stay protected, also when the engine is closed: `clearOld` removes the `.keep` files after a day.
   */
  const indexable = new Map<Combination, number>()
  /** The combination whose old packs could not be deleted, because the new ones are not known to be durable. */
  let unfinished: Combination | undefined

  const removePacks = (stems: ReadonlyArray<string>, indexes: ReadonlyArray<PackIndex>) =>
    Steps.run(function* () {
      Accelerators.dropMultiPackIndex(directory)
      let failure: unknown
      for (const stem of stems) {
        // Somebody may have marked it to be kept meanwhile.
        if (isFixed(stem)) continue
        try {
          if (!(yield* isContained(stem, indexes))) {
            throw new EngineError(
              "Corrupt",
              `the combined pack lacks objects of ${stem}.pack`,
              "Run `git fsck`"
            )
          }
          if (isFixed(stem)) continue
          // The index is removed first, so that no reader finds an index without its pack.
          unlink(`${stem}.idx`)
          for (const ending of extensions) unlink(`${stem}.${ending}`)
        } catch (cause) {
          // Git removed it meanwhile.
          if (hasErrorCode(cause, "ENOENT")) continue
          // Nothing is wrong with a pack that could not be compared for want of descriptors or memory.
          if (!hasErrorCode(cause, "EMFILE", "ENFILE", "ENOMEM")) undeletable.add(stem)
          if (!pathExists(`${stem}.idx`)) withoutIndex.add(stem)
          failure ??= cause
        }
        yield
      }
      // Git may have written another one meanwhile.
      Accelerators.dropMultiPackIndex(directory)
      return failure
    })

  /** Whether a Git command may still write a multi-pack index of packs that were deleted at this time. */
  const mayBeIndexed = (deleted: number): boolean => {
    const writers = gitWritersIn(directory)
    if (writers === undefined) return Date.now() - deleted < unlistedWait
    return writers.some(({ start, writes }) => start <= deleted + clockDifference && writes === "anything")
  }

  /**
   * Waits for Git commands that may write a multi-pack index of the old packs, and removes it. If it names the old packs, `git
   * multi-pack-index expire` would take the new ones for unused, so these are marked to be kept until then.
   */
  const dropLateMultiPackIndex = (combination: Combination) =>
    attemptPromise(operation, directory, async (signal) => {
      const deleted = Date.now()
      indexable.set(combination, deleted)
      const end = performance.now() + gitWait
      const waits = () => gitWritersIn(directory) !== undefined && mayBeIndexed(deleted)
      // Real time, because the processes are not of this program.
      while (!signal.aborted && performance.now() < end && waits()) await waitMillis(50)
      if (mayBeIndexed(deleted)) return
      Accelerators.dropMultiPackIndex(directory)
      indexable.delete(combination)
    })

  /** Ends the protection of the packs of earlier runs, as soon as no Git command can index what they have replaced. */
  const releaseIndexable = attempt(operation, directory, () => {
    for (const [combination, deleted] of indexable) {
      if (mayBeIndexed(deleted)) continue
      Accelerators.dropMultiPackIndex(directory)
      indexable.delete(combination)
      for (const { unprotect } of combination.placed) unprotect()
    }
  })

  const removeLoose = (indexes: ReadonlyArray<PackIndex>, begun: number) => {
    const isPacked = (oid: Oid) => indexes.some((index) => index.find(Buffer.from(oid, "hex")) >= 0)
    return Steps.run(() => files.loose.remove(isPacked, begun))
  }

  /** Ends the protection of the new packs, and removes temporary files. */
  const release = (combination: Combination) =>
    Effect.ignore(
      attempt(operation, directory, () => {
        if (unfinished === combination) unfinished = undefined
        const { placed, target } = combination
        // An interruption has ended the deletion of the old packs.
        if (indexable.get(combination) === Number.POSITIVE_INFINITY) indexable.set(combination, Date.now())
        if (!indexable.has(combination)) for (const { unprotect } of placed) unprotect()
        const [home, own] = [path.dirname(target), path.basename(target)]
        const isOwn = (name: string) => name === own || name.startsWith(`${own}-`)
        for (const { name } of entriesIn(home))
          if (isOwn(name)) fs.rmSync(path.join(home, name), { recursive: true, force: true })
      })
    )

  /** Deletes the old copies of the objects of new packs, which are durable before. */
  const finish = (combination: Combination) =>
    Effect.gen(function* () {
      const { begun, placed, replaced, target } = combination
      yield* attemptPromise(operation, directory, () => syncPath(packDirectory, durable))
      const indexes = yield* Steps.run(() => loadIndexes(placed))
      unfinished = undefined
      // From here on no other engine ends the protection of the new packs if this process is killed.
      if (replaced !== undefined) {
        yield* attempt(operation, directory, () => unlink(target))
        indexable.set(combination, Number.POSITIVE_INFINITY)
      }
      // What can be deleted is deleted, also after a failure.
      const failure = yield* replaced === undefined
        ? removeLoose(indexes, begun)
        : removePacks(replaced, indexes)
      if (replaced !== undefined) yield* dropLateMultiPackIndex(combination)
      if (failure !== undefined) return yield* Effect.fail(toRemoteError(operation, directory, failure))
    }).pipe(Effect.catchAllDefect((cause) => Effect.fail(toRemoteError(operation, directory, cause))))

  /** Finishes the combination that the last run left, if its packs are intact. */
  const finishLast = Effect.gen(function* () {
    if (unfinished === undefined) return
    const before = unfinished
    const intact = yield* Effect.forEach(before.placed, ({ stem }) => verifies(stem))
    if (!intact.every(Boolean)) return yield* release(before)
    yield* Effect.ensuring(
      finish(before),
      Effect.suspend(() => (unfinished === before ? Effect.void : release(before)))
    )
  })

  /** Makes new packs younger than the old ones. The times of old packs may be in the future. */
  const makeYoungest = (written: ReadonlyArray<string>, replaced: ReadonlyArray<string>) => {
    const now = Date.now()
    let youngest = now
    for (const stem of replaced) {
      const stat = fs.statSync(`${stem}.pack`, { throwIfNoEntry: false })
      if (stat === undefined || stat.mtimeMs <= now) continue
      try {
        fs.utimesSync(`${stem}.pack`, now / 1000, now / 1000)
      } catch (cause) {
        // The file belongs to another user.
        if (!hasErrorCode(cause, "EPERM", "EACCES")) throw cause
        youngest = Math.max(youngest, stat.mtimeMs)
      }
    }
    for (const stem of written) fs.utimesSync(`${stem}.pack`, youngest / 1000 + 1, youngest / 1000 + 1)
  }

  /** Replaces packs or loose objects by new packs. */
  const replace = (
    replaced: ReadonlyArray<string> | undefined,
    combine: (target: string) => Effect.Effect<ReadonlyArray<string>, RemoteError>
  ) =>
    Effect.acquireUseRelease(
      attempt(operation, directory, () => {
        const target = lease.temporaryPath("repack")
        fs.writeFileSync(target, keepText)
        const placed: Array<PlacedPack> = []
        return { target, placed, replaced, begun: fs.statSync(target).mtimeMs }
      }),
      (combination) =>
        Effect.gen(function* () {
          const { placed, target } = combination
          const written = yield* combine(target)
          if (written.length === 0) return
          yield* attempt(operation, directory, () => {
            makeYoungest(written, replaced ?? [])
            for (const stem of written) {
              const pack = { pack: `${stem}.pack`, idx: `${stem}.idx` }
              placed.push(placePack({ files: pack, keepSource: target, objects, lease }))
            }
            unfinished = combination
          })
          yield* finish(combination)
        }),
      (combination, exit) =>
        // The next call finishes it. Another combination would write the same objects once more.
        unfinished === combination && Exit.isFailure(exit) && !Exit.isInterrupted(exit)
          ? Effect.void
          : release(combination)
    )

  const mayRead = (stem: string) => Effect.sync(() => damageOfPack(stem) === undefined)

  const verifies = (stem: string) =>
    Effect.map(run(directory, operation, ["verify-pack", `${stem}.idx`]), ({ code }) => code === 0)

  const replacePacks = (isSecond: boolean): Effect.Effect<void, RemoteError> =>
    Effect.gen(function* () {
      const limit = yield* run(directory, operation, ["config", "--type=int", "--get", "pack.packSizeLimit"])
      const isUnreadable = (stem: string) =>
        unreadable.has(stem) && unreadable.get(stem) === stampOfPack(stem)
      const isLeftOut = (stem: string) =>
        files.damagedPacks.includes(stem) ||
        isUnreadable(stem) ||
        undeletable.has(stem) ||
        damageOfPack(stem) !== undefined
      const chosen = yield* attempt(operation, directory, () =>
        choosePacks({ packDirectory, isLeftOut, sizeLimit: Number(limit.stdout) })
      )
      if (chosen.length === 0) return
      // Nothing is written if the old packs cannot be removed because of it.
      yield* attempt(operation, directory, () => Accelerators.dropMultiPackIndex(directory))
      yield* Effect.catchAll(
        replace(chosen, (target) => packing.combine(chosen, target)),
        (error) =>
          Effect.gen(function* () {
            if (isSecond || unfinished !== undefined) return yield* error
            // On a full disk no pack need be read.
            const isReadable = error.reason === "Denied" ? mayRead : verifies
            let isGone = false
            for (const stem of chosen) {
              const isRead = yield* isReadable(stem)
              // Git may have removed it meanwhile.
              if (!pathExists(`${stem}.idx`) || !pathExists(`${stem}.pack`)) isGone = true
              else if (!isRead) unreadable.set(stem, stampOfPack(stem))
            }
            if (chosen.some(isUnreadable))
              yield* Effect.logWarning(
                "a damaged pack was left out of the maintenance of a repository",
                error
              )
            else if (!isGone) return yield* error
            yield* replacePacks(true)
          })
      )
    })

  yield* Effect.addFinalizer(() => (unfinished === undefined ? Effect.void : release(unfinished)))

  const unlessPrecious = (work: Effect.Effect<void, RemoteError>) =>
    Effect.unlessEffect(
      work,
      attempt(operation, directory, () => hasPreciousObjects(directory))
    ).pipe(Effect.asVoid)

  return {
    combinePacks: unlessPrecious(
      Effect.gen(function* () {
        yield* releaseIndexable
        yield* finishLast
        yield* replacePacks(false)
      })
    ),
    packLoose: unlessPrecious(
      Effect.gen(function* () {
        yield* replace(undefined, packing.packLoose)
        packing.setSearched()
      })
    ),
    withoutIndex
  } satisfies Repack
})
