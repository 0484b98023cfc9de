import * as fs from "node:fs"
import * as zlib from "node:zlib"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type { Oid } from "../../domain/Oid.js"
import { RefMoved } from "../../domain/Ref.js"
import { RemoteError, type ValidationError } from "../../domain/StoreError.js"
import type { Committed, Head, NewCommit } from "../GitRemote.js"
import { attemptPromise, toRemoteError } from "./Fault.js"
import type { ObjectDatabase } from "./ObjectDatabase.js"
import { type Packable, PackBuilder } from "./PackBuilder.js"
import { branchRef } from "./RefName.js"
import type { RefOutcome, RefStore } from "./RefStore.js"

/** Commits that became objects but are not yet written: all of one branch that one flush will make durable. */
interface Batch {
  readonly branch: string
  readonly base: Oid | undefined
  tip: Oid
  readonly objects: Array<Packable>
  commits: number
  readonly done: Deferred.Deferred<void, RefMoved | RemoteError>
}

interface Branch {
  readonly name: string
  readonly turn: Effect.Semaphore
  /** What the next commit stands on while there are commits that are not yet durable. */
  staged: Head | undefined
  open: Batch | undefined
  /** The outcome of the newest batch. */
  last: Deferred.Deferred<void, RefMoved | RemoteError> | undefined
  /** Rises when a flush fails: whatever was built on its commits is void. */
  failures: number
}

/** A commit as objects, ready to be staged. */
export interface Draft {
  readonly committed: Committed
  readonly objects: ReadonlyArray<Packable>
}

type Built<A> = { readonly commit: Option.Option<NewCommit>; readonly result: A }
type Answer<A> = { readonly committed: Option.Option<Committed>; readonly result: A }

export interface CommitQueueOptions {
  readonly directory: string
  readonly objects: ObjectDatabase
  readonly refs: RefStore
  readonly durable: boolean
  readonly headOf: (ref: string) => Effect.Effect<Option.Option<Head>, RemoteError>
  readonly draft: (
    head: Option.Option<Head>,
    commit: NewCommit
  ) => Effect.Effect<Draft, RemoteError | ValidationError>
  /** Told after each flush, for what is done now and then. */
  readonly flushed: Effect.Effect<void>
}

const operation = "GitRepository.commitNext"
/** A flush starts once nobody is about to add to it, or this long after the last one did. */
const patienceMillis = 2
const maxCommits = 1_000
const maxBytes = 64 * 1024 * 1024
const largeBlob = 256 * 1024
/** Bytes packed between two looks at what else there is to do. */
const slice = 2 * 1024 * 1024

const operationMoved = (branch: string, expected: Oid | undefined, actual: Oid | undefined) =>
  new RefMoved({
    ref: branchRef(branch),
    expected: Option.fromNullable(expected),
    actual: Option.fromNullable(actual)
  })

const breathe = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * The writers of one repository. Builds of a branch run one after the other on the newest staged commit; whatever is
 * staged when a flush begins shares one pack, one wave of fsyncs and one move of the ref. Meanwhile the next builds run.
 */
export const make = (options: CommitQueueOptions) =>
  Effect.gen(function* () {
    const { directory, durable, objects, refs } = options
    const branches = new Map<string, Branch>()
    const wakeups = yield* Queue.dropping<void>(1)
    const gate = yield* Effect.makeLatch(true)
    const exclusive = yield* Effect.makeSemaphore(1)
    let closed = false
    let gateOpen = true
    let active = 0
    let staged = { commits: 0, bytes: 0 }
    const listeners = new Set<() => void>()
    const changed = () => {
      for (const listener of [...listeners]) listener()
    }

    /** Waits until `holds`, looked at whenever something changed; not longer than `patience` without any change. */
    const until = (holds: () => boolean, patience: number) =>
      Effect.async<void>((resume) => {
        let timer: NodeJS.Timeout | undefined
        const stop = () => {
          clearTimeout(timer)
          listeners.delete(look)
        }
        const finish = () => {
          stop()
          resume(Effect.void)
        }
        const look = () => {
          if (holds()) return finish()
          if (patience !== Number.POSITIVE_INFINITY) {
            clearTimeout(timer)
            timer = setTimeout(finish, patience)
          }
        }
        listeners.add(look)
        look()
        return Effect.sync(stop)
      })

    const branchOf = (name: string): Branch => {
      let branch = branches.get(name)
      if (branch === undefined) {
        branch = {
          name,
          turn: Effect.unsafeMakeSemaphore(1),
          staged: undefined,
          open: undefined,
          last: undefined,
          failures: 0
        }
        branches.set(name, branch)
      }
      return branch
    }

    const enter: Effect.Effect<void, RemoteError> = Effect.suspend(() => {
      if (closed) {
        return Effect.fail(
          new RemoteError({
            operation,
            reason: "Unreachable",
            path: directory,
            message: "The repository was closed"
          })
        )
      }
      if (gateOpen) {
        active++
        return Effect.void
      }
      return Effect.zipRight(gate.await, enter)
    })

    const leave = Effect.sync(() => {
      active--
      changed()
    })

    /** Runs `effect` as one of the repository's writers: counted, and held back while somebody has it alone. */
    const entered = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RemoteError, R> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.zipRight(restore(enter), Effect.ensuring(restore(effect), leave))
      )

    const release = (batch: Batch) => {
      for (const { oid } of batch.objects) {
        const entry = objects.staged.get(oid)
        if (entry !== undefined && --entry.users === 0) objects.staged.delete(oid)
      }
    }

    const fail = (branch: Branch, batch: Batch, error: RefMoved | RemoteError) => {
      const follower = branch.open
      branch.failures++
      branch.staged = undefined
      branch.open = undefined
      branch.last = undefined
      Deferred.unsafeDone(batch.done, Exit.fail(error))
      release(batch)
      if (follower === undefined) return
      const actual = error._tag === "RefMoved" ? Option.getOrUndefined(error.actual) : undefined
      const cause = error._tag === "RefMoved" ? operationMoved(branch.name, follower.base, actual) : error
      Deferred.unsafeDone(follower.done, Exit.fail(cause))
      release(follower)
    }

    const succeed = (branch: Branch, batch: Batch) => {
      if (branch.last === batch.done) {
        branch.staged = undefined
        branch.last = undefined
      }
      Deferred.unsafeDone(batch.done, Exit.void)
      release(batch)
    }

    const append = (branch: Branch, head: Option.Option<Head>, draft: Draft): Batch => {
      let batch = branch.open
      if (batch === undefined) {
        batch = {
          branch: branch.name,
          base: Option.getOrUndefined(Option.map(head, (at) => at.commit)),
          tip: draft.committed.commit,
          objects: [],
          commits: 0,
          done: Deferred.unsafeMake<void, RefMoved | RemoteError>(FiberId.none)
        }
        branch.open = batch
      }
      for (const object of draft.objects) {
        const entry = objects.staged.get(object.oid)
        if (entry === undefined) objects.staged.set(object.oid, { object, users: 1 })
        else entry.users++
        batch.objects.push(object)
        staged.bytes += object.content.length
      }
      batch.tip = draft.committed.commit
      batch.commits++
      staged.commits++
      branch.staged = { commit: draft.committed.commit, tree: draft.committed.tree }
      branch.last = batch.done
      changed()
      return batch
    }

    const moved = (branch: Branch, head: Option.Option<Head>) =>
      Effect.flatMap(options.headOf(branchRef(branch.name)), (now) =>
        Effect.fail(
          operationMoved(
            branch.name,
            Option.getOrUndefined(Option.map(head, (at) => at.commit)),
            Option.getOrUndefined(Option.map(now, (at) => at.commit))
          )
        )
      )

    interface Turn<A> {
      readonly answer: Answer<A>
      readonly durable: Deferred.Deferred<void, RefMoved | RemoteError> | undefined
    }

    const turnOf = <A, E>(
      branch: Branch,
      build: (head: Option.Option<Head>) => Effect.Effect<Built<A>, E>
    ): Effect.Effect<Turn<A>, E | RefMoved | RemoteError | ValidationError> =>
      Effect.gen(function* () {
        if (staged.bytes > maxBytes) yield* until(() => staged.bytes <= maxBytes, 60_000)
        const generation = branch.failures
        const seen = branch.staged === undefined ? undefined : branch.last
        const head =
          branch.staged === undefined
            ? yield* options.headOf(branchRef(branch.name))
            : Option.some(branch.staged)
        const built = yield* Effect.exit(build(head))
        // A refusal that was judged on a commit still on its way holds only once that commit is durable.
        if (Exit.isFailure(built)) {
          if (seen !== undefined) yield* Deferred.await(seen)
          return yield* Effect.failCause(built.cause)
        }
        const { commit, result } = built.value
        if (branch.failures !== generation) return yield* moved(branch, head)
        if (Option.isNone(commit)) {
          return { answer: { committed: Option.none<Committed>(), result }, durable: seen } satisfies Turn<A>
        }
        const draft = yield* options.draft(head, commit.value)
        if (branch.failures !== generation) return yield* moved(branch, head)
        const batch = append(branch, head, draft)
        wakeups.unsafeOffer(undefined)
        return {
          answer: { committed: Option.some(draft.committed), result },
          durable: batch.done
        } satisfies Turn<A>
      })

    const commitNext = <A, E>(
      name: string,
      build: (head: Option.Option<Head>) => Effect.Effect<Built<A>, E>
    ): Effect.Effect<Answer<A>, E | RefMoved | RemoteError | ValidationError> => {
      const branch = branchOf(name)
      return Effect.flatMap(entered(branch.turn.withPermits(1)(turnOf(branch, build))), (turn) =>
        turn.durable === undefined
          ? Effect.succeed(turn.answer)
          : Effect.as(Deferred.await(turn.durable), turn.answer)
      )
    }

    const packOf = async (batches: ReadonlyArray<Batch>) => {
      const all = new Map<Oid, Packable>()
      for (const batch of batches) {
        for (const object of batch.objects) if (!all.has(object.oid)) all.set(object.oid, object)
      }
      const builder = new PackBuilder(all.size)
      let rested = 0
      for (const object of all.values()) {
        if (object.type === "blob" && object.content.length > largeBlob) {
          object.deflated = await new Promise<Buffer>((resolve, reject) =>
            zlib.deflate(object.content, { level: 1 }, (cause, bytes) =>
              cause === null ? resolve(bytes) : reject(cause)
            )
          )
        }
        builder.add(object)
        if (builder.bytes - rested > slice) {
          rested = builder.bytes
          await breathe()
        }
      }
      return builder.finish()
    }

    /** Writes the batches; answers what became of each branch's ref. */
    const write = async (batches: ReadonlyArray<Batch>): Promise<ReadonlyArray<RefOutcome | RemoteError>> => {
      const outcomes: Array<RefOutcome | RemoteError> = batches.map((batch) => {
        const actual = refs.read(branchRef(batch.branch))
        return actual === batch.base ? { _tag: "Done" } : { _tag: "Moved", actual }
      })
      const going = batches.flatMap((batch, index) =>
        outcomes[index]!._tag === "Done" ? [{ batch, index }] : []
      )
      if (going.length === 0) return outcomes
      const pack = await packOf(going.map(({ batch }) => batch))
      const prepared = going.map(({ batch }) => refs.prepare(`${batch.tip}\n`))
      let unprotect = () => {}
      try {
        try {
          unprotect = await objects.writePack(
            pack,
            durable,
            prepared.map(({ fd }) => fd)
          )
        } finally {
          for (const { fd } of prepared) fs.closeSync(fd)
        }
        for (const [i, { batch, index }] of going.entries()) {
          try {
            outcomes[index] = await refs.move(branchRef(batch.branch), batch.base, prepared[i]!.file)
          } catch (cause) {
            outcomes[index] = toRemoteError(operation, directory, cause)
          }
        }
        if (durable) {
          const names = going.filter(({ index }) => outcomes[index]!._tag === "Done")
          await refs.settle(names.map(({ batch }) => branchRef(batch.branch)))
        }
      } finally {
        for (const { file } of prepared) fs.rmSync(file, { force: true })
        unprotect()
      }
      return outcomes
    }

    let inFlight: ReadonlyArray<Batch> = []

    const flush = Effect.gen(function* () {
      yield* until(
        () => active === 0 || staged.commits >= maxCommits || staged.bytes > maxBytes,
        patienceMillis
      )
      const batches: Array<Batch> = []
      for (const branch of branches.values()) {
        if (branch.open === undefined) continue
        batches.push(branch.open)
        branch.open = undefined
      }
      if (batches.length === 0) return
      inFlight = batches
      staged = { commits: 0, bytes: 0 }
      const written = yield* Effect.either(attemptPromise(operation, directory, () => write(batches)))
      for (const [i, batch] of batches.entries()) {
        const branch = branchOf(batch.branch)
        const outcome = Either.isLeft(written) ? written.left : written.right[i]!
        if (outcome._tag === "Done") succeed(branch, batch)
        else if (outcome._tag === "Moved")
          fail(branch, batch, operationMoved(batch.branch, batch.base, outcome.actual))
        else fail(branch, batch, outcome)
      }
      inFlight = []
      changed()
      yield* options.flushed
    })

    const quiet = () =>
      inFlight.length === 0 && [...branches.values()].every((branch) => branch.open === undefined)

    /** Waits until everything staged is durable or has failed. */
    const drain = Effect.suspend(() => until(quiet, Number.POSITIVE_INFINITY))

    yield* Effect.forever(Effect.zipRight(Queue.take(wakeups), Effect.uninterruptible(flush))).pipe(
      Effect.forkScoped
    )

    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        closed = true
        return until(() => quiet() && active === 0, 10_000)
      }).pipe(Effect.interruptible, Effect.ignore)
    )

    /** Runs `effect` in the branch's turn, with everything staged on the branch flushed. */
    const inTurn = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) => {
      const branch = branchOf(name)
      return entered(
        branch.turn.withPermits(1)(
          Effect.zipRight(
            Effect.suspend(() =>
              branch.last === undefined ? Effect.void : Effect.ignore(Deferred.await(branch.last))
            ),
            effect
          )
        )
      )
    }

    const exclusively = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RemoteError, R> =>
      exclusive.withPermits(1)(
        Effect.acquireUseRelease(
          Effect.zipRight(
            gate.close,
            Effect.sync(() => {
              gateOpen = false
            })
          ),
          () =>
            Effect.zipRight(
              until(() => active === 0 && quiet(), Number.POSITIVE_INFINITY),
              effect
            ),
          () =>
            Effect.suspend(() => {
              gateOpen = true
              return gate.open
            })
        )
      )

    /** True while an object is known to this process alone. */
    const isStaged = (oid: Oid) => objects.staged.has(oid)

    return { commitNext, inTurn, exclusively, drain, isStaged } as const
  })
