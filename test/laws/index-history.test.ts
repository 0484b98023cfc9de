import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as Memory from "../../src/store/remote/memory/Memory.js"
import * as Store from "../../src/store/Store.js"
import { checkHistory } from "../../src/testing/history/HistoryCheck.js"
import { readHistory, type Snapshot } from "../../src/testing/history/HistoryReader.js"
import type { Event } from "../../src/testing/program/ProgramTrace.js"

const none = { indexes: {}, manifests: {} }
const unique = { fields: ["n"], unique: true }

/** A real history in which an index is created and dropped, and what was told of it. */
const recorded = Effect.gen(function* () {
  const remote = yield* GitRemote
  const things = (yield* Store.Store).collection("things")
  const events: Array<Event> = []
  const headNow = Effect.map(remote.head("main"), (head) =>
    Option.getOrUndefined(Option.map(head, ({ commit }) => commit))
  )
  const tell = <E>(token: string, operation: Event["operation"], call: Effect.Effect<unknown, E>) =>
    Effect.gen(function* () {
      const from = yield* headNow
      const exit = yield* Effect.either(call)
      const outcome: Event["outcome"] =
        exit._tag === "Right"
          ? { _tag: "done", value: exit.right }
          : { _tag: "refused", error: (exit.left as { readonly _tag: string })._tag }
      events.push({ token, operation, outcome, from, to: yield* headNow })
    })
  const insert = (token: string, id: string, n: number) =>
    tell(
      token,
      { _tag: "insert", collection: "things", id, fields: { n } },
      things.insert({ n }, { id, message: token })
    )
  const create = (token: string, index: string | typeof unique) =>
    tell(
      token,
      { _tag: "createIndex", collection: "things", index },
      Effect.map(things.createIndex(index, { message: token }), Option.getOrNull)
    )
  const drop = (token: string, name: string) =>
    tell(token, { _tag: "dropIndex", collection: "things", name }, things.dropIndex(name, { message: token }))
  yield* insert("i1", "a", 1)
  yield* create("c1", "n")
  yield* create("c2", "n")
  yield* create("c3", unique)
  yield* insert("i2", "b", 1)
  yield* drop("d1", "n")
  yield* drop("d2", "n")
  yield* create("c4", unique)
  const history = yield* readHistory(remote, "main", "data")
  return { events, history }
}).pipe(Effect.provide(Layer.provideMerge(Store.layer({ format: 2 }), Memory.layer())), Effect.scoped)

type Change = (event: Event) => Event

const changed = (events: ReadonlyArray<Event>, token: string, change: Change) =>
  events.map((event) => (event.token === token ? change(event) : event))

const answered =
  (value: unknown): Change =>
  (event) => ({ ...event, outcome: { _tag: "done", value } })

const refused =
  (error: string): Change =>
  (event) => ({ ...event, outcome: { _tag: "refused", error } })

const withoutFiles = (history: ReadonlyArray<Snapshot>, at: number, path: string): ReadonlyArray<Snapshot> =>
  history.map((snapshot, index) =>
    index === at
      ? { ...snapshot, derived: new Map([...snapshot.derived].filter(([name]) => !name.startsWith(path))) }
      : snapshot
  )

describe("a history in which indexes are created and dropped", () => {
  it.effect("is explained as it was", () =>
    Effect.map(recorded, ({ events, history }) => {
      assert.deepStrictEqual(
        events.map(({ outcome }) => (outcome._tag === "refused" ? outcome.error : typeof outcome._tag)),
        [
          "string",
          "string",
          "string",
          "ValidationError",
          "string",
          "string",
          "NotFoundError",
          "ConflictError"
        ]
      )
      assert.deepStrictEqual(checkHistory(events, history, none), [])
    })
  )

  for (const [what, token, change] of [
    ["a created index that is said to have been there", "c1", answered(null)],
    ["an index that was there and is said to be created", "c2", answered("0".repeat(40) as Oid)],
    ["another definition that is said to be there", "c3", answered(null)],
    ["another definition that is refused for its values", "c3", refused("ConflictError")],
    ["a unique index over equal values that is said to be there", "c4", answered(null)],
    ["a unique index over equal values that is refused as invalid", "c4", refused("ValidationError")],
    ["a created index that is said to be refused", "c1", refused("ValidationError")],
    ["a dropped index that is said to be missing", "d1", refused("NotFoundError")],
    ["a missing index that is said to be dropped", "d2", answered("0".repeat(40) as Oid)],
    ["an index that another commit is said to drop", "d1", answered("0".repeat(40) as Oid)]
  ] as const) {
    it.effect(`does not explain ${what}`, () =>
      Effect.map(recorded, ({ events, history }) =>
        assert.isNotEmpty(checkHistory(changed(events, token, change), history, none))
      )
    )
  }

  it.effect("holds each commit to its own indexes", () =>
    Effect.map(recorded, ({ events, history }) => {
      const at = (token: string) => history.findIndex(({ info }) => info.message.trim() === token)
      const broken = (token: string, path: string) =>
        assert.isNotEmpty(checkHistory(events, withoutFiles(history, at(token), path), none), token)
      for (const token of ["c1", "i2"]) {
        broken(token, "_index/things/n/")
        broken(token, "_chainstore.json")
      }
      // Files of a dropped index, and settings that nobody asked for.
      const dropped = history[at("d1")]!
      const left = { ...dropped, derived: new Map([...history[at("i2")]!.derived, ...dropped.derived]) }
      assert.isNotEmpty(checkHistory(events, history.with(at("d1"), left), none))
      assert.isNotEmpty(
        checkHistory(
          events.filter(({ token }) => token !== "d1"),
          history,
          none
        )
      )
    })
  )
})
