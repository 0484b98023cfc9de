import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { maxSchemaBytes } from "../../../src/domain/settings/JsonSchema.js"
import * as GitRemote from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import { fresh, remoteOf } from "../../support/github/Remote.js"
import { remotes, ways } from "./Remotes.js"

const openIn = (remote: GitRemote.GitRemoteService) =>
  Effect.provideService(Store.make(), GitRemote.GitRemote, remote)

const failure = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(
    Effect.flip(effect),
    (error) => error as E & { readonly message: string; readonly hint?: string }
  )

const walk = Effect.gen(function* () {
  const store = yield* Store.make()
  const people = store.collection("people")
  assert.isTrue(Option.isSome(yield* people.writeJsonSchema({ schema: Schema.Struct({ a: Schema.Int }) })))
  const found = Option.getOrThrow(yield* people.jsonSchema)
  assert.deepStrictEqual(found["required"], ["a"])
  const [, second] = yield* Effect.all(
    [people.insert({ a: 1 }), people.writeJsonSchema({ schema: { type: "object" } })],
    { concurrency: 2 }
  )
  assert.isTrue(Option.isSome(second))
  assert.strictEqual(yield* people.count, 1)
  assert.deepStrictEqual(yield* people.jsonSchema, Option.some({ type: "object" }))
})

describe("a schema is written beside documents", () => {
  for (const [name, layer] of remotes) {
    it.scopedLive(name, () => Effect.provide(walk, layer))
  }
  for (const [way, how] of ways) {
    it.scopedLive(`GitHub ${way}`, () =>
      Effect.gen(function* () {
        const { server } = yield* fresh()
        yield* Effect.provideService(walk, GitRemote.GitRemote, yield* remoteOf(server, how))
      })
    )
  }
})

it.scopedLive("over REST, reading one takes one request, and writing the same one no commit", () =>
  Effect.gen(function* () {
    const { server } = yield* fresh()
    const people = (yield* openIn(yield* remoteOf(server))).collection("people")
    yield* people.writeJsonSchema({ schema: { type: "object" } })
    const again = (yield* openIn(yield* remoteOf(server))).collection("people")
    server.seen.length = 0
    assert.isTrue(Option.isSome(yield* again.jsonSchema))
    assert.strictEqual(server.seen.length, 1)
    server.seen.length = 0
    assert.isTrue(Option.isNone(yield* again.writeJsonSchema({ schema: { type: "object" } })))
    assert.isTrue(server.seen.every(({ method }) => method === "GET"))
  })
)

it.effect("what is refused says why, and writes nothing", () =>
  Effect.gen(function* () {
    const store = yield* Store.make({ root: "a/b" })
    const people = store.collection("people")
    const secret = Schema.declare((value): value is string => typeof value === "string")
    const untold = yield* failure(store.collection("people", Schema.Struct({ secret })).writeJsonSchema())
    assert.include(untold.message, "the schema of people cannot be expressed as a JSON Schema")
    assert.include(untold.hint, "annotation `jsonSchema`")
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [{ properties: { a: 5 } }, "properties.a must be a schema"],
      [{ description: "x".repeat(maxSchemaBytes) }, `and a JSON Schema has at most ${maxSchemaBytes}`],
      [{ default: Number.NaN }, "is not JSON: default"],
      [{ default: new Date() }, "is not JSON: default"],
      [new Map([["type", "object"]]), "is not JSON"]
    ]
    for (const [schema, words] of cases) {
      const error = yield* failure(people.writeJsonSchema({ schema: schema as JsonObject }))
      assert.strictEqual(error._tag, "ValidationError")
      assert.include(error.message, words)
    }
    assert.isTrue(Option.isNone(yield* store.commitSha))
    const inside = yield* failure(
      store.transaction({}, (transaction) => transaction.collection("people").writeJsonSchema({ schema: {} }))
    )
    assert.include(inside.message, "a transaction contains documents only")
    assert.include((yield* failure(store.collection("_no").jsonSchema)).message, "_no")
    const head = yield* store.commitSha
    const shown = Option.getOrThrow(
      yield* store.preview((dry) => dry.collection("people").writeJsonSchema({ schema: {} }))
    )
    assert.deepStrictEqual(
      shown.changes.map(({ path }) => path),
      ["a/b/_schemas/people.json"]
    )
    assert.deepStrictEqual(yield* store.commitSha, head)
  }).pipe(Effect.provide(Memory.layer()))
)

it.effect("a file that somebody formatted otherwise says the same, and keeps its form", () =>
  Effect.gen(function* () {
    const remote = yield* GitRemote.GitRemote
    const people = (yield* Store.make()).collection("people")
    const path = "data/_schemas/people.json"
    const content = new TextEncoder().encode('{"type":"object","title":"é"}')
    yield* remote.commit("main", Option.none(), {
      message: "by hand",
      changes: [{ _tag: "Put", path, content }]
    })
    assert.isTrue(Option.isNone(yield* people.writeJsonSchema({ schema: { type: "object", title: "é" } })))
    // Another order is another form.
    assert.isTrue(Option.isSome(yield* people.writeJsonSchema({ schema: { title: "é", type: "object" } })))
  }).pipe(Effect.provide(Memory.layer()))
)
