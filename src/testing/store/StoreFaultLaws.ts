import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { RemoteError } from "../../domain/errors/StoreError.js"
import { derivedProblems } from "../history/DerivedCheck.js"
import { readSnapshot } from "../history/HistoryReader.js"
import { type Touch, withFaults } from "../program/FaultyRemote.js"
import { read } from "./StoreDocumentLaws.js"
import { type LawContext, law, promiseOf, type WrapRemote } from "./StoreLaw.js"
import { betweenBuildAndCommit } from "./StoreRaceLaws.js"

const store = promiseOf("store")

/** A client with something happening when it is about to build a commit, as often as it is told. */
const beforeCommits =
  (times: number, happens: (time: number) => Effect.Effect<unknown, unknown>): WrapRemote =>
  (remote) => {
    let happened = 0
    return withFaults(remote, ({ operation, point }) =>
      Effect.suspend(() =>
        operation === "commitNext" && point === "building" && happened < times
          ? Effect.ignore(Effect.suspend(() => happens(happened++)))
          : Effect.void
      )
    )
  }

const fields = { indexes: { people: ["n"] }, manifests: { people: ["n"] } }

const stateOf = ({ branch, people, remote, root }: LawContext) =>
  Effect.gen(function* () {
    const document = yield* read(people, "a")
    const head = yield* Effect.flatten(remote.head(branch))
    const info = yield* Effect.flatten(remote.commitInfo(head.commit))
    const snapshot = yield* readSnapshot(remote, info, root, new Map())
    return [document?._rev, document?.["n"], derivedProblems(snapshot, "people", fields)] as const
  })

/** Counts the touches of a client, and does something at one of them. */
const atTouch =
  (at: number, happens: (touch: Touch) => Effect.Effect<void, RemoteError>): WrapRemote =>
  (remote) => {
    let touches = 0
    return withFaults(remote, (touch) =>
      Effect.suspend(() => (touches++ === at ? happens(touch) : Effect.void))
    )
  }

const lost = new RemoteError({ operation: "law", reason: "Unreachable", message: "the law's own failure" })

/** How many touches of the remote one write takes at most, as far as laws look. */
const most = 24

/** A write that is interrupted anywhere leaves the old commit or the new one, with index and manifest in step. */
export const interruption = law(
  "interruption",
  store(
    "interruption leaves the old commit or the new one",
    "writing",
    "An interruption leaves the old commit or the new one."
  ),
  (given) =>
    Effect.gen(function* () {
      const { open, people, expectEqual } = given
      yield* people.insert({ n: 0 }, { id: "a" })
      for (let at = 0; at < most; at++) {
        const [rev] = yield* stateOf(given)
        let self: Fiber.RuntimeFiber<unknown, unknown> | undefined
        let reached = false
        const cutting = yield* open(
          {},
          atTouch(at, () =>
            Effect.suspend(() => {
              reached = true
              return self === undefined ? Effect.void : Effect.asVoid(Fiber.interruptFork(self))
            })
          )
        )
        self = yield* Effect.fork(
          Effect.zipRight(Effect.yieldNow(), cutting.collection("people").update("a", { n: at + 1 }))
        )
        yield* Fiber.await(self)
        const after = yield* stateOf(given)
        const isOld = after[0] === rev
        yield* expectEqual(`interrupted at step ${at}`, after, [
          isOld ? rev : rev! + 1,
          isOld ? after[1] : at + 1,
          []
        ])
        if (!reached) {
          yield* expectEqual("a write that nobody interrupted", isOld, false)
          return
        }
      }
    }),
  fields
)

/** A write whose remote fails is a typed failure; what was not acknowledged is written once or not at all. */
export const failures = law(
  "failures",
  store(
    "a failure writes nothing, or says that nobody knows",
    "writing",
    "a reply was lost, and the outcome cannot be proved: read before you write again"
  ),
  (given) =>
    Effect.gen(function* () {
      const { open, people, expectEqual } = given
      yield* people.insert({ n: 0 }, { id: "a" })
      for (let at = 0; at < most; at++) {
        const [rev, n] = yield* stateOf(given)
        let failed: Touch | undefined
        const failing = yield* open(
          {},
          atTouch(at, (touch) => {
            failed = touch
            return Effect.fail(lost)
          })
        )
        const exit = yield* Effect.exit(failing.collection("people").update("a", { n: at + 1 }))
        const after = yield* stateOf(given)
        if (failed === undefined)
          return yield* expectEqual("a write without failures", after, [rev! + 1, at + 1, []])
        const isKnown = failed.point !== "after" || !failed.writes
        const where = `a failure ${failed.point} ${failed.operation}`
        const tag = Exit.isSuccess(exit)
          ? "success"
          : String(exit.cause).includes("AmbiguousWriteError")
            ? "AmbiguousWriteError"
            : String(exit.cause).includes("RemoteError")
              ? "RemoteError"
              : String(exit.cause)
        if (tag === "success" || tag === "AmbiguousWriteError") {
          yield* expectEqual(
            where,
            [after, tag === "AmbiguousWriteError" && isKnown],
            [[rev! + 1, at + 1, []], false]
          )
        } else yield* expectEqual(where, [tag, ...after], ["RemoteError", rev, n, []])
      }
    }),
  fields
)

/** A body of a write that moves the branch itself is not lost either. */
export const movingBranch = law(
  "movingBranch",
  store(
    "expectedRev is judged at the head that the commit stands on",
    "writing",
    "checks `expectedRev` there, recomputes index and manifest, and commits."
  ),
  (given) =>
    Effect.gen(function* () {
      const { open, people, expectFailure, expectEqual } = given
      yield* people.insert({ n: 0 }, { id: "a" })
      const theirs = () => people.update("a", { theirs: true })
      const early = yield* open({}, beforeCommits(1, theirs))
      yield* expectFailure(
        "a revision that was right before",
        early.collection("people").update("a", { n: 1 }, { expectedRev: 1 }),
        "ConflictError"
      )
      const late = yield* open({}, betweenBuildAndCommit(1, theirs))
      yield* expectFailure(
        "a revision that was right when it was built",
        late.collection("people").update("a", { n: 1 }, { expectedRev: 2 }),
        "ConflictError"
      )
      const merging = yield* open(
        {},
        betweenBuildAndCommit(1, () => people.update("a", { more: 1 }))
      )
      const merged = yield* merging.collection("people").update("a", { n: 5 })
      yield* expectEqual(
        "the patch meets the version that it stands on",
        [merged._rev, merged["more"], merged["n"]],
        [5, 1, 5]
      )
      const deleting = yield* open(
        {},
        betweenBuildAndCommit(1, () => people.delete("a"))
      )
      yield* expectFailure(
        "a document that went meanwhile",
        deleting.collection("people").update("a", { n: 6 }),
        "NotFoundError"
      )
      const inserting = yield* open(
        {},
        betweenBuildAndCommit(1, () => people.insert({ n: 7 }, { id: "a" }))
      )
      yield* expectFailure(
        "an id that came meanwhile",
        inserting.collection("people").insert({ n: 8 }, { id: "a" }),
        "ConflictError"
      )
      yield* expectEqual("index and manifest", (yield* stateOf(given))[2], [])
    }),
  fields
)
