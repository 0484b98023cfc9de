import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { file, foreignCommit } from "./ForeignCommit.js"
import { remotes } from "./Remotes.js"

const indexes = { people: [{ fields: ["a", "b"], unique: true }] } as const
const list = (prefix: string) => Array.from({ length: 101 }, (_, at) => `${prefix}${at}`)

describe.each(remotes)(
  "a unique index on %s that a document of another program keeps from being made",
  (_name, layer) => {
    const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
      it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

    // docs/indexes.md: two documents never get one value of a unique index by the store; unlessForeign: the index is behind, and queries look at what differs.
    test(
      "still refuses a value that another document has",
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const store = yield* Store.make({ format: 2, indexes })
        const people = store.collection("people")
        yield* people.insert({ a: "1", b: "1" }, { id: "ada" })
        const head = Option.getOrThrow(yield* remote.head("main"))
        const tree = Option.getOrThrow(yield* remote.tree(head, "data/_index", { recursive: true }))
        yield* foreignCommit(
          remote,
          ...tree.entries.flatMap(({ kind, path }) =>
            kind === "blob" ? [{ _tag: "Remove" as const, path: `data/_index/${path}` }] : []
          ),
          file("people/foreign.json", { _id: "foreign", _rev: 1, a: list("x"), b: list("y") })
        )
        yield* people.insert({ a: "2", b: "2" }, { id: "bob" })
        const written = yield* Effect.either(people.insert({ a: "1", b: "1" }, { id: "cleo" }))
        assert.isTrue(Either.isLeft(written), "cleo has what ada has")
        const batched = yield* Effect.either(
          store.batch({}, (batch) =>
            Effect.zipRight(
              batch.put("people", "dora", { a: "3", b: "3" }),
              batch.put("people", "eve", { a: "3", b: "3" })
            )
          )
        )
        assert.isTrue(Either.isLeft(batched), "two of one batch")
        assert.isTrue(Option.isNone(yield* people.get("eve")))
      })
    )
  }
)
