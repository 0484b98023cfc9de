import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { attempt, attemptPromise } from "../files/EngineError.js"
import { fsyncPath, hasErrorCode, unlink } from "../files/FileOperations.js"
import type { Lease } from "../lease/Lease.js"
import * as Repairs from "../lease/RepairLog.js"
import { clearOld } from "../lease/StaleFiles.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import { runTethered } from "../processes/GitProcess.js"
import * as Accelerators from "./Accelerators.js"
import { isPartial, repack } from "./Repack.js"

const operation = "GitRepository.maintain"
/** So many times the allowed number of packs is too many to wait for a quiet moment. */
const overdue = 10

export interface MaintenanceOptions {
  readonly directory: string
  readonly owner: Lease
  readonly objects: ObjectDatabase
  /** Packs that may come together before they are repacked; 0 never repacks by itself. */
  readonly packs: number
  /** Loose objects that may come together before they are packed: those found at first and those written since. */
  readonly looseObjects: number
  /** Milliseconds without a write after which maintenance that is due begins. */
  readonly quiet: number
}

/** Runs what starts Git children that take locks and write files: what they leave when killed is cleared up. */
export const withChildren = <A, E, R>(
  owner: Lease,
  operation: string,
  directory: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | RemoteError, R> =>
  Effect.acquireUseRelease(
    attempt(operation, directory, () => owner.beginChildWork()),
    () => effect,
    (end, exit) => Effect.ignore(attempt(operation, directory, () => end(Exit.isSuccess(exit))))
  )

/** Drops accelerators that are damaged, where the disk can be written. */
export const dropDamaged = (
  directory: string,
  operation: string,
  owner: Lease
): Effect.Effect<void, RemoteError> =>
  attemptPromise(operation, directory, async () => {
    if (!owner.isWritable) return
    for (const name of await Accelerators.damaged(directory)) {
      Accelerators.drop(directory, name)
      Repairs.record(directory, `removed ${name}, which was damaged; the maintenance writes it anew`)
    }
  })

/**
 * Keeps a repository fast: packs grow in a geometric row, history gets its changed-path filters. Nothing that is
 * unreachable is removed, so it is safe beside every writer. One at a time, also among processes.
 */
export const make = (options: MaintenanceOptions) =>
  Effect.gen(function* () {
    const { directory, objects, owner } = options
    const turn = yield* Effect.makeSemaphore(1)
    const mark = path.join(directory, "chainstore", "maintenance.lock")

    const lock = attempt(operation, directory, () => {
      const file = owner.temporaryPath("maintenance")
      fs.writeFileSync(file, "")
      const take = () => {
        try {
          fs.linkSync(file, mark)
          return true
        } catch (cause) {
          if (hasErrorCode(cause, "EEXIST")) return false
          unlink(file)
          throw cause
        }
      }
      if (take() || (owner.recoverDead() > 0 && take())) return file
      unlink(file)
      return undefined
    })

    const note = (message: string) => Repairs.record(directory, message)

    const clean = attempt(operation, directory, () => {
      owner.recoverDead()
      for (const file of clearOld(directory)) note(`removed ${file}, to which nobody had written for a day`)
    })

    /** Makes the index of a pack anew, from the pack, which Git checks meanwhile. */
    const reindex = (stem: string) =>
      Effect.gen(function* () {
        const index = yield* attempt(operation, directory, () => owner.temporaryPath("index"))
        const command = ["index-pack", "--no-rev-index", "-o", index, `${stem}.pack`]
        yield* runTethered(directory, operation, command)
        yield* attemptPromise(operation, directory, async () => {
          await fsyncPath(index)
          fs.renameSync(index, `${stem}.idx`)
          await fsyncPath(path.dirname(stem))
          note(`made ${path.relative(directory, stem)}.idx anew, which was damaged`)
        })
      })

    const children = Effect.gen(function* () {
      yield* attempt(operation, directory, () => objects.examine())
      // A pack that is damaged too stays as it is, and the others are kept fast all the same.
      for (const stem of objects.damagedPacks) yield* Effect.ignoreLogged(reindex(stem))
      yield* attempt(operation, directory, () => objects.rescan())
      yield* repack({ directory, owner, damaged: objects.damagedPacks })
      yield* runTethered(directory, operation, [
        ...["-c", "core.fsync=all"],
        ...["commit-graph", "write", "--reachable", "--split", "--no-progress"],
        // The filters are made from trees, and a partial clone may lack them.
        isPartial(directory) ? "--no-changed-paths" : "--changed-paths"
      ])
    })

    const work = Effect.gen(function* () {
      yield* clean
      yield* dropDamaged(directory, operation, owner)
      yield* withChildren(owner, operation, directory, children)
      yield* attemptPromise(operation, directory, () => Accelerators.settle(directory))
      yield* attempt(operation, directory, () => {
        objects.rescan()
        objects.loose.count = 0
      })
    })

    const maintain: Effect.Effect<void, RemoteError> = turn.withPermits(1)(
      Effect.acquireUseRelease(
        lock,
        (file) => (file === undefined ? Effect.void : work),
        (file) =>
          Effect.sync(() => {
            if (file === undefined) return
            fs.rmSync(mark, { force: true })
            fs.rmSync(file, { force: true })
          })
      )
    )

    let running = false
    let timer: NodeJS.Timeout | undefined
    const scope = yield* Effect.scope
    const runtime = yield* Effect.runtime<never>()

    const background = maintain.pipe(
      Effect.catchAll((error) => Effect.logWarning("the maintenance of a repository failed", error)),
      Effect.ensuring(
        Effect.sync(() => {
          running = false
        })
      )
    )

    const begin = () => {
      if (running) return
      running = true
      // Timers are real ones: quiet is a matter of the disk, not of the program's clock.
      Runtime.runFork(runtime)(background, { scope })
    }

    /** Looks whether maintenance is due: at once when it is overdue, otherwise when nothing was written for a while. */
    const flushed = Effect.sync(() => {
      clearTimeout(timer)
      if (options.packs === 0 || running) return
      const due = Math.max(
        objects.packCount / options.packs,
        objects.loose.count / options.looseObjects,
        objects.damagedPacks.length
      )
      if (due < 1) return
      if (due >= overdue) return begin()
      timer = setTimeout(begin, options.quiet)
      timer.unref()
    })

    yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(timer)))

    return { maintain, flushed } as const
  })
