import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { pathExists } from "../files/Directories.js"
import { attempt, attemptPromise, toRemoteError } from "../files/EngineError.js"
import { fsyncPath, tryUnlink, unlink } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import { entriesIn, keepText } from "../lease/StaleFiles.js"
import type { ObjectFiles } from "../objects/ObjectFiles.js"
import { PackIndex } from "../packs/PackIndex.js"
import { type PlacedPack, placePack } from "../packs/PackWriter.js"
import { run, runTethered } from "../processes/GitExecution.js"
import * as Accelerators from "./Accelerators.js"
import { choosePacks, isFixed } from "./PackChoice.js"

/*
 * `git repack --geometric -d` deletes packs before it has synced the directory with the new pack, and Git 2.39 cannot run it in a
 * partial clone or in a repository with alternates. So the packs are chosen here, and deleted after the new pack is durable.
 *
 * Stock Git may repack at the same time. `git repack -a -d` removes each pack that was there when it began, with all objects that
 * no ref reached at that time, even if a commit has written or linked such an object again since. So
 * - a copy is deleted only if the new pack contains the object, never because another pack does;
 * - loose objects that no ref reaches stay loose, where Git leaves them alone;
 * - no multi-pack index is written: Git does not find an object whose copy in the index was removed, even if another pack of the
 *   index has it.
 */

const operation = "GitRepository.maintain"
/** The extensions of the files of a pack beside its index. */
const extensions = ["rev", "bitmap", "pack"]
const settings = [
  "core.fsync=all",
  "core.fsyncMethod=fsync",
  "pack.threads=1",
  "pack.writeReverseIndex=false"
].flatMap((setting) => ["-c", setting])

/** Whether a repository is a partial clone, which may lack objects. */
export const isPartial = (directory: string): Effect.Effect<boolean, RemoteError> =>
  attempt(operation, directory, () =>
    entriesIn(path.join(directory, "objects", "pack")).some(({ name }) => name.endsWith(".promisor"))
  )

/** New packs that are complete, and the copies of their objects that are not deleted yet. */
interface Combination {
  /** The temporary file of the lease whose links protect the new packs. */
  readonly target: string
  readonly placed: ReadonlyArray<PlacedPack>
  /** The old packs, by their paths without extension. Empty if the objects were loose. */
  readonly replaced: ReadonlyArray<string>
}

export interface RepackOptions {
  readonly directory: string
  readonly lease: Lease
  readonly files: ObjectFiles
}

/** Combines small packs, and, `withLoose`, packs the loose objects that refs reach. Objects of alternates are left there. */
export const makeRepack = Effect.fnUntraced(function* ({ directory, files, lease }: RepackOptions) {
  const objects = path.join(directory, "objects")
  const packDirectory = path.join(objects, "pack")
  /** The packs that Git could not read. */
  const unreadable = new Set<string>()
  /** The ids of all refs when the loose objects that they reach were packed. */
  let searched: ReadonlyArray<Oid> = []
  /** The combination whose old packs could not be deleted, because the new ones are not known to be durable. */
  let unfinished: Combination | undefined

  const packObjects = (args: ReadonlyArray<string>, target: string, input?: string) =>
    Effect.map(
      runTethered(
        directory,
        operation,
        [...settings, "pack-objects", ...args, "--non-empty", "--delta-base-offset", "-q", target],
        input
      ),
      ({ stdout }) => stdout.split("\n").flatMap((hash) => (hash === "" ? [] : [`${target}-${hash}`]))
    )

  /** Writes the objects of packs to new packs, and returns the paths of those without extension. */
  const combinePacks = (stems: ReadonlyArray<string>, target: string) =>
    Effect.gen(function* () {
      if (stems.length === 0) return []
      const input = `${target}-input`
      yield* attempt(operation, directory, () =>
        fs.writeFileSync(input, stems.map((stem) => `${path.basename(stem)}.pack\n`).join(""))
      )
      return yield* packObjects(["--stdin-packs"], target, input)
    })

  /**
   * Writes the loose objects that refs reach to new packs, and returns the paths of those without extension. What was reached the
   * last time is not searched again.
   */
  const packLoose = (target: string) =>
    Effect.gen(function* () {
      if (yield* attempt(operation, directory, () => files.loose.isEmpty())) return []
      const partial = (yield* isPartial(directory)) ? ["--exclude-promisor-objects"] : []
      const input = `${target}-input`
      yield* attempt(operation, directory, () => {
        const known = searched.filter((oid) => files.info(oid) !== undefined)
        fs.writeFileSync(input, known.length === 0 ? "" : `--not\n${known.join("\n")}\n`)
      })
      const reachable = ["--revs", "--all", "--reflog", "--indexed-objects"]
      const args = [...reachable, "--incremental", "--local", "--honor-pack-keep", ...partial]
      return yield* packObjects(args, target, input)
    })

  const removePacks = (stems: ReadonlyArray<string>) =>
    Steps.run(function* () {
      Accelerators.dropMultiPackIndex(directory)
      let failure: unknown
      for (const stem of stems) {
        // Somebody may have marked it to be kept meanwhile.
        if (isFixed(stem)) continue
        try {
          // The index is removed first, so that no reader finds an index without its pack.
          unlink(`${stem}.idx`)
          for (const ending of extensions) lease.remove(`${stem}.${ending}`)
        } catch (cause) {
          failure ??= cause
        }
        yield
      }
      // Git may have written another one meanwhile.
      Accelerators.dropMultiPackIndex(directory)
      return failure
    })

  const removeLoose = (stems: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const indexes = yield* attempt(operation, directory, () => stems.map(PackIndex.whole))
      const isPacked = (oid: Oid) => indexes.some((index) => index.find(Buffer.from(oid, "hex")) >= 0)
      return yield* Steps.run(() => files.loose.remove(isPacked))
    })

  /** Ends the protection of the new packs, and removes temporary files. */
  const release = (combination: Combination) =>
    Effect.ignore(
      attempt(operation, directory, () => {
        if (unfinished === combination) unfinished = undefined
        const { placed, target } = combination
        for (const { unprotect } of placed) unprotect()
        const [home, own] = [path.dirname(target), path.basename(target)]
        const isOwn = (name: string) => name === own || name.startsWith(`${own}-`)
        for (const { name } of entriesIn(home)) if (isOwn(name)) tryUnlink(path.join(home, name))
      })
    )

  /** Deletes the old copies of the objects of new packs, which are durable before. */
  const finish = ({ placed, replaced }: Combination) =>
    Effect.gen(function* () {
      yield* attemptPromise(operation, directory, () => fsyncPath(packDirectory))
      unfinished = undefined
      // What can be deleted is deleted, also after a failure.
      const failure =
        replaced.length > 0
          ? yield* removePacks(replaced)
          : yield* removeLoose(placed.map(({ stem }) => stem))
      if (failure !== undefined) return yield* Effect.fail(toRemoteError(operation, directory, failure))
    }).pipe(Effect.catchAllDefect((cause) => Effect.fail(toRemoteError(operation, directory, cause))))

  /** Replaces packs or loose objects by new packs. */
  const replace = (
    replaced: ReadonlyArray<string>,
    combine: (target: string) => Effect.Effect<ReadonlyArray<string>, RemoteError>
  ) =>
    Effect.acquireUseRelease(
      attempt(operation, directory, () => {
        const target = lease.temporaryPath("repack")
        fs.writeFileSync(target, keepText)
        const placed: Array<PlacedPack> = []
        return { target, placed, replaced }
      }),
      (combination) =>
        Effect.gen(function* () {
          const { placed, target } = combination
          const written = yield* combine(target)
          if (written.length === 0) return
          yield* attempt(operation, directory, () => {
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

  const isReadable = (stem: string) =>
    Effect.map(run(directory, operation, ["verify-pack", `${stem}.idx`]), ({ code }) => code === 0)

  const replacePacks = (isSecond: boolean): Effect.Effect<void, RemoteError> =>
    Effect.gen(function* () {
      const limit = yield* run(directory, operation, ["config", "--type=int", "--get", "pack.packSizeLimit"])
      const isDamaged = (stem: string) => files.damagedPacks.includes(stem) || unreadable.has(stem)
      const chosen = yield* attempt(operation, directory, () =>
        choosePacks({ packDirectory, damaged: isDamaged, sizeLimit: Number(limit.stdout) })
      )
      if (chosen.length === 0) return
      yield* Effect.catchAll(
        replace(chosen, (target) => combinePacks(chosen, target)),
        (error) =>
          Effect.gen(function* () {
            if (isSecond || unfinished !== undefined) return yield* error
            let isGone = false
            for (const stem of chosen) {
              if (yield* isReadable(stem)) continue
              // Git may have removed it meanwhile.
              if (pathExists(`${stem}.idx`) && pathExists(`${stem}.pack`)) unreadable.add(stem)
              else isGone = true
            }
            const isDamaged = chosen.some((stem) => unreadable.has(stem))
            if (isDamaged)
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

  return Effect.fnUntraced(function* (withLoose: boolean) {
    if (unfinished !== undefined) {
      const before = unfinished
      yield* Effect.ensuring(
        finish(before),
        Effect.suspend(() => (unfinished === before ? Effect.void : release(before)))
      )
    }
    yield* replacePacks(false)
    if (!withLoose) return
    const refs = yield* run(directory, operation, ["for-each-ref", "--format=%(objectname)"])
    yield* replace([], packLoose)
    searched = refs.stdout.split("\n").filter((oid): oid is Oid => oid !== "")
  })
})
