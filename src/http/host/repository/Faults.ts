import { FileSystem, type HttpServerRequest } from "@effect/platform"
import { Context, Effect, Layer, MutableRef, Option, Ref, Schema } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { DurationInput } from "../../../domain/time/DurationInput.js"
import * as Monotonic from "../../../domain/time/MonotonicClock.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { durationOption } from "../../server/DurationOption.js"
import * as GitCommand from "./GitCommand.js"

/** A fault to inject into a request. */
export const Fault = Schema.Union(
  Schema.TaggedStruct("Latency", { millis: Schema.NonNegative }),
  /** An error reply before the request is processed, or after it. */
  Schema.TaggedStruct("Error", {
    status: Schema.Int.pipe(Schema.between(500, 599)),
    when: Schema.Literal("before", "after")
  }),
  /** A connection reset before the request is processed, or after it. */
  Schema.TaggedStruct("Reset", { when: Schema.Literal("before", "after") }),
  /** The given response instead of the host's, before the request is processed, or after it. */
  Schema.TaggedStruct("Reply", {
    status: Schema.Int.pipe(Schema.between(200, 599)),
    headers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), {
      exact: true
    }),
    /** A string is sent as it is. Other values are sent as JSON. */
    body: Schema.optionalWith(Schema.Unknown, { exact: true }),
    when: Schema.Literal("before", "after")
  }),
  /** Half of the response body, followed by its end, by a connection reset, or by silence. */
  Schema.TaggedStruct("Cut", { then: Schema.Literal("end", "reset", "silence") }),
  /** The request is processed twice, as when a proxy repeats it. The second response is sent. */
  Schema.TaggedStruct("Twice", {}),
  /** Another process commits to the branch between this write's read of the ref and its update. */
  Schema.TaggedStruct("Race", {})
)
export type Fault = typeof Fault.Type

/** Selects the requests that meet a fault. All given conditions must match. The first matching rule applies. */
export const Rule = Schema.Struct({
  method: Schema.optionalWith(Schema.String, { exact: true }),
  /** A substring of the path as sent. */
  path: Schema.optionalWith(Schema.String, { exact: true }),
  /** The number of requests that meet the fault. Default: unlimited. */
  times: Schema.optionalWith(Schema.Int.pipe(Schema.positive()), { exact: true }),
  fault: Fault
})
export type Rule = typeof Rule.Type

/** Fault rules, and the staleness of reads by branch. */
export const Plan = Schema.Struct({
  rules: Schema.optionalWith(Schema.Array(Rule), { default: () => [] }),
  staleSeconds: Schema.optionalWith(Schema.NonNegative, { default: () => 0 })
})
export type Plan = typeof Plan.Type

/** The properties of a request that rules are matched against. `source` is the platform's request. */
export type FaultTarget = Pick<HttpServerRequest.HttpServerRequest, "method" | "url"> & {
  readonly source?: unknown
}

/** The active faults. */
export class Faults extends Context.Tag("chainstore/http/host/Faults")<
  Faults,
  {
    /** The fault of this request. Counts as one use of its rule. */
    readonly faultFor: (request: FaultTarget) => Fault | undefined
    readonly set: (plan: typeof Plan.Encoded) => Effect.Effect<void>
    /** Wraps a repository so that reads by branch are stale and races can be injected. */
    readonly wrap: (fullName: string, git: GitRepository) => GitRepository
    /** Runs a write during which another process commits to the branch. */
    readonly withRace: <A, E, R>(write: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>() {}

class PendingRace extends Context.Reference<PendingRace>()("chainstore/http/host/Racing", {
  defaultValue: (): { left: number } => ({ left: 0 })
}) {}

class IsWriter extends Context.Reference<IsWriter>()("chainstore/http/host/Writing", {
  defaultValue: () => false
}) {}

/** Runs a write. Its reads are not stale. */
export const asWriter = <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(write, IsWriter, true)

interface Move {
  readonly at: number
  readonly before: Option.Option<Oid>
}

/** Creates an empty commit on a ref with Git, as another process would. */
const commitConcurrently = (git: GitRepository, ref: string) =>
  Effect.gen(function* () {
    const tip = yield* git.ref(ref)
    if (Option.isNone(tip)) return
    const who = { GIT_AUTHOR_NAME: "racer", GIT_AUTHOR_EMAIL: "racer@localhost" }
    const env = { ...who, GIT_COMMITTER_NAME: "racer", GIT_COMMITTER_EMAIL: "racer@localhost" }
    const args = ["commit-tree", `${tip.value}^{tree}`, "-p", tip.value, "-m", "race"]
    const commit = yield* GitCommand.text(git, args, { env })
    yield* GitCommand.text(git, ["update-ref", ref, commit.trim(), tip.value])
  })

const make = (plan: MutableRef.MutableRef<Plan>, now = Monotonic.millis) =>
  Effect.sync(() => {
    const uses = new Map<Rule, number>()
    const moves = new Map<string, Array<Move>>()

    const stale = (
      fullName: string,
      ref: string,
      actual: Effect.Effect<Option.Option<Oid>, RemoteError>
    ): Effect.Effect<Option.Option<Oid>, RemoteError> =>
      Effect.gen(function* () {
        const { staleSeconds } = MutableRef.get(plan)
        const past = moves.get(`${fullName} ${ref}`)
        if (staleSeconds === 0 || past === undefined || (yield* IsWriter)) return yield* actual
        const since = (yield* now) - staleSeconds * 1000
        const seen = past.find((move) => move.at > since)
        return seen === undefined ? yield* actual : seen.before
      })

    const recordMove = (fullName: string, ref: string, before: Option.Option<Oid>) =>
      Effect.gen(function* () {
        if (MutableRef.get(plan).staleSeconds === 0) return
        const key = `${fullName} ${ref}`
        const past = moves.get(key) ?? []
        past.push({ at: yield* now, before })
        moves.set(key, past.slice(-1000))
      })

    /** Records the refs that an effect has moved. */
    const recordingMoves = <A, E, R>(fullName: string, git: GitRepository, effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        const places = Effect.map(
          git.refs("refs/"),
          (refs) => new Map(refs.map(({ name, oid }) => [name, oid]))
        )
        const before = yield* places
        const answer = yield* effect
        const after = yield* places
        for (const name of new Set([...before.keys(), ...after.keys()])) {
          const was = before.get(name)
          if (was !== after.get(name)) yield* recordMove(fullName, name, Option.fromNullable(was))
        }
        return answer
      })

    const race = (racing: { left: number }, git: GitRepository, ref: string) =>
      Effect.suspend(() => {
        if (racing.left === 0) return Effect.void
        racing.left--
        return Effect.ignore(commitConcurrently(git, ref))
      })

    const faulty =
      (
        fullName: string,
        git: GitRepository,
        update: GitRepository["updateRef"]
      ): GitRepository["updateRef"] =>
      (name, expected, next) =>
        Effect.flatMap(PendingRace, (racing) => race(racing, git, name)).pipe(
          Effect.zipRight(update(name, expected, next)),
          Effect.zipLeft(recordMove(fullName, name, expected))
        )

    const resolve = (fullName: string, git: GitRepository, revision: string) =>
      Effect.gen(function* () {
        const name = revision.startsWith("refs/") ? revision : `refs/heads/${revision}`
        const branch = yield* git.ref(name)
        return Option.isSome(branch) || moves.has(`${fullName} ${name}`)
          ? yield* stale(fullName, name, git.resolve(revision))
          : yield* git.resolve(revision)
      })

    const wrapped = (fullName: string, git: GitRepository): GitRepository => ({
      ...git,
      ref: (name) => (moves.size === 0 ? git.ref(name) : stale(fullName, name, git.ref(name))),
      resolve: (revision) =>
        Effect.suspend(() => (moves.size === 0 ? git.resolve(revision) : resolve(fullName, git, revision))),
      commitAt: (revision) =>
        Effect.suspend(() =>
          moves.size === 0
            ? git.commitAt(revision)
            : Effect.flatMap(resolve(fullName, git, revision), (oid) =>
                Option.isSome(oid) ? git.commit(oid.value) : Effect.succeedNone
              )
        ),
      updateRef: faulty(fullName, git, git.updateRef),
      // Reads inside a ref update are not stale.
      withRefMutex: (name, effect) =>
        git.withRefMutex(name, (update) => asWriter(effect(faulty(fullName, git, update)))),
      // Git processes move refs here.
      withExclusiveAccess: (effect) =>
        Effect.suspend(() =>
          MutableRef.get(plan).staleSeconds === 0
            ? git.withExclusiveAccess(effect)
            : git.withExclusiveAccess(recordingMoves(fullName, git, effect))
        ),
      commitNext: (branch, build) => {
        let before: Option.Option<Oid> = Option.none()
        const name = `refs/heads/${branch}`
        // `build` may run in another fiber, so the race is looked up in the caller's.
        return Effect.flatMap(PendingRace, (racing) =>
          git.commitNext(branch, (head) => {
            before = Option.map(head, ({ commit }) => commit)
            return Effect.zipLeft(build(head), Effect.ignore(race(racing, git, name)))
          })
        ).pipe(
          Effect.tap(({ committed }) =>
            Option.isSome(committed) ? recordMove(fullName, name, before) : Effect.void
          )
        )
      }
    })

    // One wrapper per open repository, because every request needs it.
    const views = new WeakMap<GitRepository, GitRepository>()
    const around = (fullName: string, git: GitRepository): GitRepository => {
      const view = views.get(git) ?? wrapped(fullName, git)
      views.set(git, view)
      return view
    }

    return Faults.of({
      set: (next) =>
        Effect.map(Effect.orDie(Schema.decode(Plan)(next)), (decoded) => {
          uses.clear()
          MutableRef.set(plan, decoded)
        }),
      wrap: around,
      withRace: (write) => Effect.provideService(write, PendingRace, { left: 1 }),
      faultFor: ({ method, url }) => {
        for (const rule of MutableRef.get(plan).rules) {
          const count = uses.get(rule) ?? 0
          if (rule.method !== undefined && rule.method !== method) continue
          if (rule.path !== undefined && !url.includes(rule.path)) continue
          if (rule.times !== undefined && count >= rule.times) continue
          uses.set(rule, count + 1)
          return rule.fault
        }
        return undefined
      }
    })
  })

const noFaults: Plan = { rules: [], staleSeconds: 0 }

/** No faults until `set` is called. `now` is the clock for `staleSeconds` in milliseconds. */
export const layerWith = (now: Effect.Effect<number>) =>
  Layer.effect(
    Faults,
    Effect.suspend(() => make(MutableRef.make(noFaults), now))
  )

/** No faults until `set` is called. */
export const layer = layerWith(Monotonic.millis)

/**
 * Reads faults from a file and reads it again when it changes. A missing file means no faults. An invalid file
 * changes nothing.
 */
export const layerFile = (file: string, every: DurationInput = "250 millis") =>
  Layer.scoped(
    Faults,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const pause = durationOption("Faults.layerFile: every", every)
      const plan = MutableRef.make(noFaults)
      const seen = yield* Ref.make("")
      const load = Effect.gen(function* () {
        const text = yield* Effect.orElseSucceed(fs.readFileString(file), () => "{}")
        if (text === (yield* Ref.get(seen))) return
        yield* Ref.set(seen, text)
        MutableRef.set(plan, yield* Schema.decode(Schema.parseJson(Plan))(text))
      }).pipe(
        Effect.catchTag("ParseError", (error) =>
          Effect.logWarning(
            `The fault rules in ${file} are invalid; the previous rules stay active: ${error.message}`
          )
        )
      )
      yield* load
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(pause), load)))
      return yield* make(plan)
    })
  )
