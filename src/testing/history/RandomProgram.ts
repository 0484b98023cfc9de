import { Cause, Effect, Exit, Fiber, FiberRef, Layer, Option, type Scope } from "effect"
import { RemoteError } from "../../domain/errors/StoreError.js"
import { GitRemote, type GitRemoteService } from "../../store/remote/GitRemote.js"
import { Store } from "../../store/Store.js"
import type { StoreService } from "../../store/StoreService.js"
import { type OnTouch, withFaults } from "../program/FaultyRemote.js"
import type { Event } from "../program/ProgramTrace.js"
import type { Program, Script } from "../program/StoreProgram.js"
import { type CheckOptions, checkHistory } from "./HistoryCheck.js"
import { readHistory } from "./HistoryReader.js"
import { foreignStep, outcomeOf, resolve } from "./ProgramCall.js"

export type { CheckOptions } from "./HistoryCheck.js"

/**
 * How a random program reaches the repository that it works on.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProgramHarness<E = never> {
  /** A new client of the one repository, with a connection or process of its own. */
  readonly remote: Effect.Effect<GitRemoteService, E, Scope.Scope>
  /** The store over a client. */
  readonly store: Layer.Layer<Store, E, GitRemote>
  /** Writers that share one client and one store. Default 2. */
  readonly writersPerStore?: number | undefined
  /** Directory of the collections. Default `data`. */
  readonly root?: string | undefined
  /** Where a document lies, for commits made by hand. Default: the plain layout. */
  readonly documentPath?: ((collection: string, id: string) => string) | undefined
}

/**
 * What a random program did.
 *
 * @since 0.1.0
 * @category models
 */
export interface Trace {
  /** Every call that was made, with its outcome. */
  readonly events: ReadonlyArray<Event>
  /** Calls that ended in a defect: always a bug. */
  readonly defects: ReadonlyArray<string>
}

interface Player {
  readonly script: Script
  touches: number
}

const player = FiberRef.unsafeMake<Player | undefined>(undefined)

const connect = <E>(harness: ProgramHarness<E>, onTouch: OnTouch) =>
  Effect.gen(function* () {
    const remote = withFaults(yield* harness.remote, onTouch)
    const context = yield* Layer.build(Layer.provide(harness.store, Layer.succeed(GitRemote, remote)))
    return yield* Effect.provide(Store, context)
  })

/**
 * Runs every writer of a program at once, and answers what each call was told.
 *
 * @since 0.1.0
 * @category combinators
 */
export const run = <E>(program: Program, harness: ProgramHarness<E>): Effect.Effect<Trace, E, Scope.Scope> =>
  Effect.gen(function* () {
    const observer = yield* harness.remote
    const shared = harness.writersPerStore ?? 2
    const root = harness.root ?? "data"
    const pathOf =
      harness.documentPath ??
      ((collection: string, id: string) =>
        [...(root === "" ? [] : [root]), collection, `${id}.json`].join("/"))
    const defects: Array<string> = []
    const events: Array<Event> = []
    let foreign = 0

    const somebody = (path: string, content: string): Effect.Effect<void> =>
      Effect.gen(function* () {
        const head = yield* observer.head("main")
        const changes = [{ _tag: "Put" as const, path, content: new TextEncoder().encode(content) }]
        yield* observer.commit("main", head, { message: `foreign ${foreign++}`, changes })
      }).pipe(
        Effect.catchTag("RefMoved", () => Effect.zipRight(Effect.yieldNow(), somebody(path, content))),
        Effect.orDie
      )

    const onTouch: OnTouch = (touch) =>
      Effect.flatMap(FiberRef.get(player), (current) => {
        if (current === undefined) return Effect.void
        const { faults, yields } = current.script
        const at = current.touches++
        const turns = yields.length === 0 ? 0 : yields[at % yields.length]!
        const wait = Effect.repeatN(Effect.yieldNow(), turns)
        const fault = faults.find((planned) => planned.at === at)?.fault
        if (fault === undefined) return wait
        if (fault === "interrupt") return Effect.zipRight(wait, Effect.interrupt)
        if (fault === "foreign") {
          if (touch.point === "building") return wait
          return Effect.zipRight(wait, somebody(`notes-${at}.md`, "a note"))
        }
        if (fault === "ambiguous" && !(touch.writes && touch.point === "after")) return wait
        return Effect.zipRight(
          wait,
          new RemoteError({
            operation: touch.operation,
            reason: "Unreachable",
            message: `a chosen fault ${touch.point} ${touch.operation}`
          })
        )
      })

    const headNow = Effect.orDie(
      Effect.map(observer.head("main"), (head) => Option.getOrUndefined(Option.map(head, (at) => at.commit)))
    )

    const play = (store: StoreService, script: Script, writer: number) =>
      Effect.forEach(
        script.steps,
        (step, index) =>
          Effect.gen(function* () {
            const token = `w${writer}-${index}`
            if (step._tag === "foreign") {
              yield* foreignStep(observer, pathOf, step, token, somebody)
              return
            }
            const resolved = yield* Effect.exit(resolve(step, store, observer, token))
            if (Exit.isFailure(resolved)) return
            const { call, operation } = resolved.value
            const from = yield* headNow
            const after = script.interruptions.find((planned) => planned.step === index)?.after
            const exit = yield* after === undefined ? Effect.exit(call) : interruptedAfter(call, after)
            const to = yield* headNow
            if (Exit.isFailure(exit) && Cause.isDie(exit.cause)) {
              defects.push(`${token} ${step._tag}: ${Cause.pretty(exit.cause)}`)
            }
            events.push({ token, operation: operation(), outcome: outcomeOf(exit), from, to })
          }),
        { discard: true }
      )

    const stores = yield* Effect.forEach(
      Array.from({ length: Math.ceil(program.writers.length / shared) }),
      () => connect(harness, onTouch)
    )
    yield* Effect.forEach(
      program.writers,
      (script, writer) =>
        Effect.locally(play(stores[Math.floor(writer / shared)]!, script, writer), player, {
          script,
          touches: 0
        }),
      { concurrency: "unbounded", discard: true }
    )
    return { events, defects }
  })

/**
 * Runs a program and holds its answers against the history; answers every way in which the promise is broken.
 *
 * @since 0.1.0
 * @category checking
 */
export const check = <E>(
  program: Program,
  harness: ProgramHarness<E>,
  options: CheckOptions
): Effect.Effect<ReadonlyArray<string>, E, Scope.Scope> =>
  Effect.gen(function* () {
    const { defects, events } = yield* run(program, harness)
    const observer = yield* harness.remote
    const history = yield* Effect.orDie(readHistory(observer, "main", harness.root ?? "data"))
    const branches = yield* Effect.orDie(observer.listBranches("chainstore-tx-"))
    const conflicts = events.filter(
      ({ operation, outcome }) =>
        operation._tag === "transaction" && outcome._tag === "refused" && outcome.error === "ConflictError"
    ).length
    const left =
      branches.length > conflicts && !program.writers.some(({ faults }) => faults.length > 0)
        ? [`${branches.length} work branches are left, ${conflicts} transactions were in conflict`]
        : []
    return [...defects, ...left, ...checkHistory(events, history, options)]
  })

const interruptedAfter = <A, E>(call: Effect.Effect<A, E>, turns: number) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(call)
    yield* Effect.repeatN(Effect.yieldNow(), turns)
    return yield* Fiber.interrupt(fiber)
  })
