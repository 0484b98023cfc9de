import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type { RemoteError } from "../../domain/StoreError.js"
import { attempt } from "./Fault.js"
import { runTethered } from "./GitProcess.js"
import type { ObjectDatabase } from "./ObjectDatabase.js"
import type { Owner } from "./Owner.js"

const operation = "GitRepository.maintain"
/** So many times the allowed number of packs is too many to wait for a quiet moment. */
const overdue = 10

export interface MaintenanceOptions {
  readonly directory: string
  readonly owner: Owner
  readonly objects: ObjectDatabase
  /** Packs that may come together before they are repacked; 0 never repacks by itself. */
  readonly packs: number
  /** Loose objects that may come together before they are packed: those found at first and those written since. */
  readonly looseObjects: number
  /** Milliseconds without a write after which maintenance that is due begins. */
  readonly quiet: number
}

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
      const file = owner.temporary("maintenance")
      fs.writeFileSync(file, "")
      const take = () => {
        try {
          fs.linkSync(file, mark)
          return true
        } catch {
          return false
        }
      }
      if (take() || (owner.recover() > 0 && take())) return file
      fs.rmSync(file, { force: true })
      return undefined
    })

    const work = Effect.gen(function* () {
      yield* attempt(operation, directory, () => owner.recover())
      yield* runTethered(directory, operation, [
        ...["-c", "pack.threads=1"],
        ...["repack", "--geometric=2", "-d", "-q", "--write-midx"]
      ])
      yield* runTethered(directory, operation, [
        ...["commit-graph", "write", "--reachable", "--changed-paths", "--split", "--no-progress"]
      ])
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
      const due = Math.max(objects.packCount / options.packs, objects.loose.count / options.looseObjects)
      if (due < 1) return
      if (due >= overdue) return begin()
      timer = setTimeout(begin, options.quiet)
      timer.unref()
    })

    yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(timer)))

    return { maintain, flushed } as const
  })
