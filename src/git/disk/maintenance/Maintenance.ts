import * as fs from "node:fs"
import * as path from "node:path"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { pathExists } from "../files/Directories.js"
import { attempt, attemptPromise, attemptSteps } from "../files/EngineError.js"
import { fsyncPath, hasErrorCode, stampOf, unlink } from "../files/FileOperations.js"
import { withChildren } from "../lease/ChildWork.js"
import type { Lease } from "../lease/Lease.js"
import * as RepairLog from "../lease/RepairLog.js"
import { entriesIn, isOld } from "../lease/StaleFiles.js"
import type { ObjectDatabase } from "../objects/ObjectDatabase.js"
import { packsWithoutIndex } from "../packs/PackSet.js"
import { runTethered } from "../processes/GitExecution.js"
import * as Accelerators from "./Accelerators.js"
import type { Backoff } from "./Backoff.js"
import { namesDeletedCommits } from "./CommitGraph.js"
import type { MaintenanceHistory } from "./MaintenanceHistory.js"
import { isPartial } from "./PackObjects.js"
import { makeRepack } from "./Repack.js"
import { syncPath } from "./Syncing.js"

const operation = "GitRepository.maintain"
/** For how many milliseconds an interrupted maintenance waits for the removal of the files of its children. */
const clearingTimeout = 2_000
/** At this multiple of the allowed number of packs, maintenance does not wait for a quiet moment. */
const overdue = 10
/** For how many milliseconds no maintenance begins after another process was found to maintain the repository. */
const maintainedElsewhere = 1_000

export interface MaintenanceOptions {
  readonly directory: string
  readonly lease: Lease
  readonly objects: ObjectDatabase
  readonly durable: boolean
  /** The number of packs above which they are repacked; 0: never. */
  readonly packs: number
  /** The number of loose objects above which they are packed: an estimate at the start, plus those written since. */
  readonly looseObjects: number
  /** Milliseconds without a write after which due maintenance begins. */
  readonly quiet: number
  /** Runs while a maintenance does that the engine has begun. */
  readonly meanwhile: Effect.Effect<never>
  readonly history: MaintenanceHistory
}

/** Removes damaged derived files, if the disk is writable. */
export const dropDamaged = (
  directory: string,
  operation: string,
  lease: Lease
): Effect.Effect<void, RemoteError> =>
  attemptPromise(operation, directory, async () => {
    if (!lease.isWritable) return
    for (const name of await Accelerators.damaged(directory)) {
      if (!Accelerators.tryDrop(directory, name)) continue
      RepairLog.record(directory, `removed ${name}, which was damaged or out of date; Git works without it`)
    }
  })

/**
 * Keeps a repository fast: combines packs so that their numbers of objects form a geometric progression, and writes the changed-path
 * filters of the commit-graph. Unreachable objects are not removed, so it is safe while other processes write. Only one run at a time, also
 * among processes.
 */
export const make = (options: MaintenanceOptions) =>
  Effect.gen(function* () {
    const { directory, durable, history, lease, objects } = options
    const mutex = yield* Effect.makeSemaphore(1)
    const lockFile = path.join(directory, "chainstore", "maintenance.lock")

    const lock = attempt(operation, directory, () => {
      const file = lease.temporaryPath("maintenance")
      fs.writeFileSync(file, "")
      const take = () => {
        try {
          fs.linkSync(file, lockFile)
          return true
        } catch (cause) {
          if (hasErrorCode(cause, "EEXIST")) return false
          throw cause
        }
      }
      let isTaken = false
      try {
        isTaken = take() || ((lease.recoverDead() > 0 || lease.removeCopied(lockFile)) && take())
        return isTaken ? file : undefined
      } finally {
        if (!isTaken) unlink(file)
      }
    })

    const record = (message: string) => RepairLog.record(directory, message)

    const { combinePacks, packLoose, withoutIndex } = yield* makeRepack({
      directory,
      lease,
      files: objects.files,
      durable,
      history
    })

    const clean = attempt(operation, directory, () => {
      lease.recoverDead()
      for (const file of lease.clearOld()) record(`removed ${file}, which had not changed for a day`)
    })

    /** Rebuilds the index of a pack. Git verifies the pack meanwhile. */
    const reindex = (stem: string) =>
      Effect.acquireUseRelease(
        attempt(operation, directory, () => lease.temporaryPath("index")),
        (index) =>
          Effect.gen(function* () {
            const command = ["index-pack", "--no-rev-index", "-o", index, `${stem}.pack`]
            yield* withChildren(lease, operation, directory, runTethered(directory, operation, command))
            yield* attemptPromise(operation, directory, async () => {
              await fsyncPath(index)
              fs.renameSync(index, `${stem}.idx`)
              // Git may have removed the pack meanwhile.
              if (!pathExists(`${stem}.pack`)) return unlink(`${stem}.idx`)
              await syncPath(path.dirname(stem), durable)
              record(`rebuilt ${path.relative(directory, stem)}.idx, which was damaged or missing`)
            })
          }),
        (index) => Effect.sync(() => void lease.remove(index))
      )

    const { failures } = history
    const failuresOf = (stem: string): number => {
      const before = failures.get(stem)
      return before !== undefined && before.stamp === stampOf(`${stem}.pack`) ? before.count : 0
    }
    const noteFailure = (stem: string) =>
      failures.set(stem, { stamp: stampOf(`${stem}.pack`), count: failuresOf(stem) + 1 })
    /** A second failure means that the pack is damaged, too. */
    const isHopeless = (stem: string) => failuresOf(stem) >= 2

    /** Packs whose writer or remover was killed before it was done. Their objects may exist nowhere else. */
    const abandonedPacks = attempt(operation, directory, () => {
      const packs = path.join(directory, "objects", "pack")
      return packsWithoutIndex(entriesIn(packs).map(({ name }) => name))
        .map((name) => path.join(packs, name))
        .filter((stem) => {
          const ctime = fs.statSync(`${stem}.pack`, { throwIfNoEntry: false })?.ctimeMs
          return withoutIndex.delete(stem) || (ctime !== undefined && isOld(ctime))
        })
    })

    const { looseBackoff, packBackoff } = history
    /** What a failure of the running maintenance delays; undefined when all is packed. */
    let current: Backoff | undefined
    const rescan = attempt(operation, directory, () => objects.files.rescan())

    const packWork = Effect.fnUntraced(function* (withLoose: boolean) {
      yield* attemptSteps(operation, directory, () => objects.files.examine())
      // If the pack is damaged, too, it is left, and the other packs are maintained nevertheless.
      for (const stem of [...objects.files.damagedPacks, ...(yield* abandonedPacks)]) {
        if (isHopeless(stem)) continue
        const note = ({ reason }: RemoteError) =>
          Effect.sync(() => {
            if (reason !== "Denied") noteFailure(stem)
          })
        yield* Effect.ignoreLogged(Effect.tapError(reindex(stem), note))
      }
      yield* rescan
      const packs = objects.files.packCount
      yield* combinePacks
      yield* rescan
      packBackoff.succeeded()
      current = undefined
      // Those that were written meanwhile were not tried.
      history.leftPacks = Math.min(packs, objects.files.packCount)
      if (!withLoose) return
      const loose = objects.files.loose.count
      current = looseBackoff
      yield* packLoose
      yield* rescan
      looseBackoff.succeeded()
      current = undefined
      objects.files.loose.searched(loose)
    })

    const commitGraph = Effect.gen(function* () {
      const command = [
        ...["-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"],
        ...["commit-graph", "write", "--reachable", "--no-progress"],
        (yield* attemptPromise(operation, directory, () => namesDeletedCommits(directory, objects.files)))
          ? "--split=replace"
          : "--split",
        // The filters require all trees, which a partial clone may not have.
        (yield* isPartial(directory)) ? "--no-changed-paths" : "--changed-paths"
      ]
      yield* withChildren(lease, operation, directory, runTethered(directory, operation, command))
    })

    // It only makes Git faster, and may belong to another user, or not fit on the disk.
    const writeCommitGraph = Effect.catchIf(
      commitGraph,
      ({ reason }) => reason === "Denied",
      (error) => Effect.logWarning("the commit-graph was not written", error)
    )

    const work = Effect.fnUntraced(function* (withLoose: boolean) {
      current = packBackoff
      yield* clean
      yield* dropDamaged(directory, operation, lease)
      yield* Effect.zipRight(packWork(withLoose), writeCommitGraph).pipe(
        // The files of a stopped child may be removed only when they have not changed for a moment.
        Effect.onInterrupt(() => Effect.promise(() => lease.waitUntilCleared(clearingTimeout)))
      )
      yield* attemptPromise(operation, directory, () => Accelerators.settle(directory, durable))
    })

    /** False if another process maintains the repository. */
    const maintainWith = (withLoose: boolean): Effect.Effect<boolean, RemoteError> =>
      Effect.acquireUseRelease(
        lock,
        (file) => {
          if (file === undefined) return Effect.succeed(false)
          const noteFailed = (cause: Cause.Cause<RemoteError>) =>
            Effect.sync(() => {
              if (!Cause.isInterruptedOnly(cause)) current?.failed()
            })
          return Effect.as(Effect.tapErrorCause(work(withLoose), noteFailed), true)
        },
        (file) =>
          Effect.sync(() => {
            if (file === undefined) return
            lease.remove(lockFile, file)
            lease.discard(file)
          })
      ).pipe(mutex.withPermits(1))
    const maintain = Effect.asVoid(maintainWith(true))

    let running = false
    let timer: NodeJS.Timeout | undefined
    /** The scope of the engine is closed already when its last writes begin a maintenance. */
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const runtime = yield* Effect.runtime<never>()

    const looseDue = () => objects.files.loose.count / options.looseObjects

    /** Until then, another process is assumed to maintain the repository. Each attempt starts a process for every other lease. */
    let pausedUntil = 0

    const background = Effect.suspend(() =>
      maintainWith(looseDue() >= 1 && looseBackoff.remaining === 0)
    ).pipe(
      Effect.tap((isDone) =>
        Effect.sync(() => {
          if (!isDone) pausedUntil = performance.now() + maintainedElsewhere
        })
      ),
      Effect.tapErrorCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.void
          : Effect.logWarning("the maintenance of a repository failed", cause)
      ),
      Effect.exit,
      Effect.ensuring(
        Effect.sync(() => {
          running = false
        })
      )
    )

    const begin = () => {
      if (running) return
      running = true
      // Real timers are used, because the quiet time concerns the disk, not the clock of the program.
      Runtime.runFork(runtime)(Effect.raceFirst(background, options.meanwhile), { scope })
    }

    /** In how many milliseconds work begins that is due from 1 on. */
    const delayOf = (due: number, { remaining }: Backoff): number =>
      due < 1 ? Number.POSITIVE_INFINITY : due >= overdue ? remaining : Math.max(options.quiet, remaining)

    /** Starts due maintenance: at once if it is overdue, or else after a time without writes. */
    const flushed = Effect.sync(() => {
      clearTimeout(timer)
      if (options.packs === 0 || running) return
      const { packCount } = objects.files
      history.leftPacks = Math.min(history.leftPacks, packCount)
      const damaged = objects.files.damagedPacks.filter((stem) => !isHopeless(stem))
      const packsDue = Math.max((packCount - history.leftPacks) / options.packs, damaged.length)
      const due = Math.min(delayOf(packsDue, packBackoff), delayOf(looseDue(), looseBackoff))
      const delay = Math.max(due, pausedUntil - performance.now())
      if (delay === 0) return begin()
      if (delay === Number.POSITIVE_INFINITY) return
      timer = setTimeout(begin, delay)
      timer.unref()
    })

    yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(timer)))

    return { maintain, flushed } as const
  })
